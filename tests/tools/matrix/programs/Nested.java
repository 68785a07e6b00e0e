// Three hot methods inside each other: Nested ROUNDS. Waits for its stdin's end before its own.

import java.io.IOException;

public class Nested {
    static long inner(long n) {
        long sum = n;
        for (int i = 0; i < 500; i++) {  // the loop's first line
            sum = sum * 1103515245L + 12345;
        }  // the loop's last line
        return sum;
    }

    static long middle(long n) {
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += inner(n + i);
        }
        return sum;
    }

    static long outer(long n) {
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += middle(n * i);
        }
        return sum;
    }

    public static void main(String[] args) throws IOException {
        long sum = 0;
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            sum += outer(i);
        }
        System.out.println(sum);
        while (System.in.read() >= 0) {
        }
        System.exit(3);
    }
}
