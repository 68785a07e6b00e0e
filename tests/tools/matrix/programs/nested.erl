%% Three hot functions inside each other: -run nested main ROUNDS. Waits for its stdin's end before its own.
-module(nested).
-export([main/1]).

main([Rounds]) ->
    io:format("~p~n", [sum(fun outer/1, list_to_integer(Rounds), 0)]),
    wait(),
    halt(3).

wait() ->
    case io:get_line("") of
        eof -> ok;
        _ -> wait()
    end.

sum(_, 0, Sum) -> Sum;
sum(Function, N, Sum) -> sum(Function, N - 1, Sum + Function(N)).

outer(N) -> middles(10, N, 0).

middles(0, _, Sum) -> Sum;
middles(I, N, Sum) -> middles(I - 1, N, Sum + middle(N * I)).

middle(N) -> inners(10, N, 0).

inners(0, _, Sum) -> Sum;
inners(I, N, Sum) -> inners(I - 1, N, Sum + inner(10000, N + I)).

%% the loop's first line
inner(0, Sum) -> Sum;
inner(I, Sum) -> inner(I - 1, (Sum * 1103515 + 12345) rem 2147483647).
%% the loop's last line
