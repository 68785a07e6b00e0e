#!/usr/bin/env python3
"""What programs of demo-jit/programs print, computed a second time: references.py NAME."""
import math
import sys


def binary_trees(max_depth=8):
    def make(depth):
        return (None, None) if depth == 0 else (make(depth - 1), make(depth - 1))

    def count(tree):
        return 1 if tree[0] is None else 1 + count(tree[0]) + count(tree[1])

    print(f"stretch tree of depth {max_depth + 1} check: {count(make(max_depth + 1))}")
    for depth in range(4, max_depth + 1, 2):
        rounds = 1 << (max_depth - depth + 4)
        print(f"{rounds} trees of depth {depth} check: {sum(count(make(depth)) for _ in range(rounds))}")
    print(f"long lived tree of depth {max_depth} check: {count(make(max_depth))}")


def n_body(steps=1000):
    pi, days = 3.141592653589793, 365.24
    solar = 4 * pi * pi
    bodies = [[0.0] * 6 + [solar]]
    for x, y, z, vx, vy, vz, mass in (
            (4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.00166007664274403694,
             0.00769901118419740425, -0.0000690460016972063023, 0.000954791938424326609),
            (8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -0.00276742510726411112,
             0.00499852801234917238, 0.0000230417297573763929, 0.000285885980666130812),
            (12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 0.00296460137564761618,
             0.00237847173959480950, -0.0000296589568540237556, 0.0000436624404335156298),
            (15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.00268067772490389322,
             0.00162824170038242295, -0.0000951592254519715870, 0.0000515138902046611451)):
        bodies.append([x, y, z, vx * days, vy * days, vz * days, mass * solar])
    for axis in (3, 4, 5):
        bodies[0][axis] = -sum(b[axis] * b[6] for b in bodies) / solar
    pairs = [(b, c) for i, b in enumerate(bodies) for c in bodies[i + 1:]]

    def energy():
        kinetic = sum(0.5 * b[6] * (b[3] ** 2 + b[4] ** 2 + b[5] ** 2) for b in bodies)
        return kinetic - sum(b[6] * c[6] / math.dist(b[:3], c[:3]) for b, c in pairs)

    print(f"{energy():.9f}")
    for _ in range(steps):
        for b, c in pairs:
            d = [b[k] - c[k] for k in range(3)]
            squared = sum(v * v for v in d)
            magnitude = 0.01 / (squared * math.sqrt(squared))
            for k in range(3):
                b[k + 3] -= d[k] * c[6] * magnitude
                c[k + 3] += d[k] * b[6] * magnitude
        for b in bodies:
            for k in range(3):
                b[k] += 0.01 * b[k + 3]
    print(f"{energy():.9f}")


def spectral_norm(n=100):
    a = [[1.0 / ((i + j) * (i + j + 1) // 2 + i + 1) for j in range(n)] for i in range(n)]
    transposed = [list(row) for row in zip(*a)]

    def times(matrix, v):
        return [sum(p * q for p, q in zip(row, v)) for row in matrix]

    u = [1.0] * n
    v = u
    for _ in range(10):
        v = times(transposed, times(a, u))
        u = times(transposed, times(a, v))
    print(f"{math.sqrt(sum(p * q for p, q in zip(u, v)) / sum(p * p for p in v)):.9f}")


def nucleotides(length=2000):
    seed, dna = 42, ""
    for _ in range(length):
        seed = (seed * 3877 + 29573) % 139968
        dna += "GGTATTTTAATTTATAGT"[seed * 18 // 139968]

    def counts(size):
        result = {}
        for i in range(length - size + 1):
            word = dna[i:i + size]
            result[word] = result.get(word, 0) + 1
        return result

    for size in (1, 2):
        for word, count in sorted(counts(size).items(), key=lambda item: (-item[1], item[0])):
            print(word, count)
    for word in ("GGT", "TATTTT"):
        print(word, counts(len(word)).get(word, 0))


def parallel_sum(length=200000):
    for threads in (1, 2, 4):
        print(f"{threads} threads: {sum(n * n % 1000 for n in range(length))}")


def producers():
    for threads in (1, 4):
        print("ready\n" * threads + str(sum(n * len(f"job {n}") for n in range(400))))


def sparks(length=50000):
    values = [n * n % 1009 for n in range(length)]
    print(sum(values), max(values), sep="\n")
    for times in range(7, -1, -1):
        print(f"{chr(97 + times) * times}{0.5 * times:.1f}")
    numbers = [0, 1]
    while len(numbers) < 18:
        numbers.append(numbers[-1] + numbers[-2])
    print(numbers[17])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
