// Three methods that call each other, hot in one line. Says where code without a file lies, and when it ran.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

public class Hot {
    static long inner(long x) {
        long sum = x;
        for (int i = 1; i < 200; i++) {
            sum += sum / (i | 1);  // the hot line
        }
        return sum;
    }

    static long middle(long x) {
        long sum = 0;
        for (int i = 0; i < 50; i++) {
            sum ^= inner(x + i);
        }
        return sum;
    }

    static long outer(long x) {
        long sum = 0;
        for (int i = 0; i < 20; i++) {
            sum += middle(x + i);
        }
        return sum;
    }

    static long run(long milliseconds) {
        long sum = 0;
        long end = System.nanoTime() + milliseconds * 1_000_000;
        while (System.nanoTime() < end) {
            sum += outer(sum);
        }
        return sum;
    }

    // Executable mappings without a name.
    static void sayAnonymous() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            String[] words = line.split(" +");
            if (words.length == 5 && words[1].contains("x")) {
                System.out.println("anonymous " + words[0].replace('-', ' '));
            }
        }
    }

    public static void main(String[] args) throws IOException {
        long sum = run(Long.parseLong(args[0]));
        long start = System.nanoTime();
        sum += run(Long.parseLong(args[1]));
        long end = System.nanoTime();
        sayAnonymous();
        System.out.println("stamps jitted " + start + " " + end + " " + (sum >>> 1));
    }
}
