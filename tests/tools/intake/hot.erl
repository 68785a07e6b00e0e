%% Hot functions of several modules.
-module(hot).
-export([main/0]).

main() ->
    io:format("~p~n", [loop(250, 0)]),
    halt(3).

loop(0, Sum) -> Sum;
loop(N, Sum) -> loop(N - 1, Sum + fib(25) + pairs(N)).

fib(0) -> 0;
fib(1) -> 1;
fib(N) -> fib(N - 1) + fib(N - 2).

pairs(N) -> lists:foldl(fun(X, Sum) -> X rem N + Sum end, 0, lists:reverse(lists:seq(1, 20000))).
