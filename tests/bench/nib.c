/* What nib.cpp compares nib's programs with: the same algorithms, without a result if it is printed nowhere.
 */
#include "nib.h"

#include <math.h>
#include <stdlib.h>

/* ---- sieve ---- */

int64_t sieve_in_c(int64_t limit) {
  unsigned char* is_prime = malloc((size_t)limit);
  int64_t n, multiple, count = 0;
  for (n = 0; n < limit; ++n) is_prime[n] = 1;
  is_prime[0] = is_prime[1] = 0;
  for (n = 2; n * n < limit; ++n) {
    if (!is_prime[n]) continue;
    for (multiple = n * n; multiple < limit; multiple += n) is_prime[multiple] = 0;
  }
  for (n = 0; n < limit; ++n) count += is_prime[n];
  free(is_prime);
  return count;
}

/* ---- n-body ---- */

struct body {
  double x, y, z, vx, vy, vz, mass;
};

#define DAYS 365.24
#define SOLAR_MASS (4 * 3.141592653589793 * 3.141592653589793)

static const struct body kStart[5] = {
    {0, 0, 0, 0, 0, 0, SOLAR_MASS},
    {4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.00166007664274403694 * DAYS,
     0.00769901118419740425 * DAYS, -0.0000690460016972063023 * DAYS, 0.000954791938424326609 * SOLAR_MASS},
    {8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -0.00276742510726411112 * DAYS,
     0.00499852801234917238 * DAYS, 0.0000230417297573763929 * DAYS, 0.000285885980666130812 * SOLAR_MASS},
    {12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 0.00296460137564761618 * DAYS,
     0.00237847173959480950 * DAYS, -0.0000296589568540237556 * DAYS, 0.0000436624404335156298 * SOLAR_MASS},
    {15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.00268067772490389322 * DAYS,
     0.00162824170038242295 * DAYS, -0.0000951592254519715870 * DAYS, 0.0000515138902046611451 * SOLAR_MASS}};

static void advance(struct body* bodies, double dt) {
  int i, j;
  for (i = 0; i < 5; ++i) {
    struct body* b = &bodies[i];
    for (j = i + 1; j < 5; ++j) {
      struct body* c = &bodies[j];
      const double dx = b->x - c->x, dy = b->y - c->y, dz = b->z - c->z;
      const double squared = dx * dx + dy * dy + dz * dz;
      const double magnitude = dt / (squared * sqrt(squared));
      b->vx -= dx * c->mass * magnitude;
      b->vy -= dy * c->mass * magnitude;
      b->vz -= dz * c->mass * magnitude;
      c->vx += dx * b->mass * magnitude;
      c->vy += dy * b->mass * magnitude;
      c->vz += dz * b->mass * magnitude;
    }
  }
  for (i = 0; i < 5; ++i) {
    struct body* b = &bodies[i];
    b->x += dt * b->vx;
    b->y += dt * b->vy;
    b->z += dt * b->vz;
  }
}

static double energy(const struct body* bodies) {
  double e = 0;
  int i, j;
  for (i = 0; i < 5; ++i) {
    const struct body* b = &bodies[i];
    e += 0.5 * b->mass * (b->vx * b->vx + b->vy * b->vy + b->vz * b->vz);
    for (j = i + 1; j < 5; ++j) {
      const struct body* c = &bodies[j];
      const double dx = b->x - c->x, dy = b->y - c->y, dz = b->z - c->z;
      e -= b->mass * c->mass / sqrt(dx * dx + dy * dy + dz * dz);
    }
  }
  return e;
}

double n_body_in_c(int64_t steps) {
  struct body bodies[5];
  double px = 0, py = 0, pz = 0;
  int64_t i;
  for (i = 0; i < 5; ++i) {
    bodies[i] = kStart[i];
    px += bodies[i].vx * bodies[i].mass;
    py += bodies[i].vy * bodies[i].mass;
    pz += bodies[i].vz * bodies[i].mass;
  }
  bodies[0].vx = -px / SOLAR_MASS;
  bodies[0].vy = -py / SOLAR_MASS;
  bodies[0].vz = -pz / SOLAR_MASS;
  for (i = 0; i < steps; ++i) advance(bodies, 0.01);
  return energy(bodies);
}

/* ---- spectral-norm ---- */

static double a(int64_t i, int64_t j) {
  return 1.0 / (double)((i + j) * (i + j + 1) / 2 + i + 1);
}

static void times(int64_t n, const double* v, double* result) {
  int64_t i, j;
  for (i = 0; i < n; ++i) {
    double sum = 0;
    for (j = 0; j < n; ++j) sum += a(i, j) * v[j];
    result[i] = sum;
  }
}

static void transposed_times(int64_t n, const double* v, double* result) {
  int64_t i, j;
  for (i = 0; i < n; ++i) {
    double sum = 0;
    for (j = 0; j < n; ++j) sum += a(j, i) * v[j];
    result[i] = sum;
  }
}

double spectral_norm_in_c(int64_t n) {
  double* u = malloc((size_t)n * sizeof *u);
  double* v = malloc((size_t)n * sizeof *v);
  double* between = malloc((size_t)n * sizeof *between);
  double uv = 0, vv = 0;
  int64_t i;
  for (i = 0; i < n; ++i) u[i] = 1;
  for (i = 0; i < 10; ++i) {
    times(n, u, between);
    transposed_times(n, between, v);
    times(n, v, between);
    transposed_times(n, between, u);
  }
  for (i = 0; i < n; ++i) {
    uv += u[i] * v[i];
    vv += v[i] * v[i];
  }
  free(u);
  free(v);
  free(between);
  return sqrt(uv / vv);
}

/* ---- binary-trees ---- */

struct node {
  struct node *left, *right;
};

static struct node* make(int64_t depth) {
  struct node* made = malloc(sizeof *made);
  made->left = depth == 0 ? NULL : make(depth - 1);
  made->right = depth == 0 ? NULL : make(depth - 1);
  return made;
}

static int64_t count(const struct node* tree) {
  if (tree->left == NULL) return 1;
  return 1 + count(tree->left) + count(tree->right);
}

static void release(struct node* tree) {
  if (tree == NULL) return;
  release(tree->left);
  release(tree->right);
  free(tree);
}

static int64_t make_and_count(int64_t depth) {
  struct node* tree = make(depth);
  const int64_t nodes = count(tree);
  release(tree);
  return nodes;
}

int64_t binary_trees_in_c(int64_t max_depth) {
  int64_t sum = make_and_count(max_depth + 1), depth, i;
  struct node* long_lived = make(max_depth);
  for (depth = 4; depth <= max_depth; depth += 2)
    for (i = 0; i < (int64_t)1 << (max_depth - depth + 4); ++i) sum += make_and_count(depth);
  sum += count(long_lived);
  release(long_lived);
  return sum;
}
