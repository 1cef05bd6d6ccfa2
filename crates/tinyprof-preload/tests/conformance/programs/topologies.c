// Topologies, their neighbour collectives, and ranks that MPI reorders.
#define RANKS 4
#include "case.h"

static int in[16], out[16];

static void fill(void) {
    for (int i = 0; i < 16; i++) in[i] = rank * 20 + i, out[i] = -1;
}

static void say_out(const char *of, int count) {
    char text[256] = "";
    for (int i = 0; i < count; i++) sprintf(text + strlen(text), " %d", out[i]), out[i] = -1;
    say("%s:%s", of, text);
}

// All operations, over a communicator with so many sources.
// `is_even`: each rank has as many destinations.
static void exchange(MPI_Comm of, int sources, int is_even) {
    int ones[8], places[8];
    MPI_Aint bytes[8];
    MPI_Datatype types[8];
    MPI_Request request;
    for (int i = 0; i < 8; i++) {
        ones[i] = 1, places[i] = i, bytes[i] = 4 * i, types[i] = MPI_INT;
    }
    fill();
    MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, of);
    say_out("allgather", sources);
    MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, of);
    say_out("allgatherv", sources);
    MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, of);
    say_out("alltoall", sources);
    MPI_Neighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, of);
    say_out("alltoallv", sources);
    MPI_Ineighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, of, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_out("Iallgather", sources);
#ifndef OPEN_MPI
    // MPICH 4.0.2 itself loses messages of these where a rank has other numbers of sources and
    // destinations.
    if (!is_even) return;
#endif
    MPI_Neighbor_alltoallw(in, ones, bytes, types, out, ones, bytes, types, of);
    say_out("alltoallw", sources);
    MPI_Ineighbor_alltoallw(in, ones, bytes, types, out, ones, bytes, types, of, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_out("Ialltoallw", sources);
}

CASE(line_and_ring) {
    for (int periodic = 0; periodic < 2; periodic++) {
        MPI_Comm grid;
        int source, destination, coordinates[1], grid_rank;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &grid);
        MPI_Comm_rank(grid, &grid_rank);
        MPI_Cart_coords(grid, grid_rank, 1, coordinates);
        MPI_Cart_shift(grid, 0, 1, &source, &destination);
        say("rank %d at %d, from %d to %d", grid_rank, coordinates[0],
            source == MPI_PROC_NULL ? -1 : source, destination == MPI_PROC_NULL ? -1 : destination);
        exchange(grid, 2, 1);
        MPI_Comm_free(&grid);
    }
}

CASE(grid_and_parts) {
    MPI_Comm grid, row;
    int dims[2] = {2, 2}, periods[2] = {1, 0}, keep[2] = {0, 1}, row_rank, sum, nowhere[2] = {0, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    exchange(grid, 4, 1);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_rank(row, &row_rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    say("row: rank %d sum %d", row_rank, sum);
    MPI_Comm_free(&row);
    MPI_Cart_sub(grid, nowhere, &row);
    // Rank 0 of MPICH has a grid without dimensions, the other ranks have none.
    say("no dimensions: null %d", row == MPI_COMM_NULL);
    if (row != MPI_COMM_NULL) MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

CASE(graph) {
    // A star: rank 0 with all others.
    int index[4] = {3, 4, 5, 6}, edges[6] = {1, 2, 3, 0, 0, 0}, count;
    MPI_Comm star;
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &star);
    MPI_Graph_neighbors_count(star, rank, &count);
    exchange(star, count, 1);
    MPI_Comm_free(&star);
    // Fewer nodes than ranks: null for the others.
    MPI_Graph_create(MPI_COMM_WORLD, 2, (int[]){1, 2}, (int[]){1, 0}, 0, &star);
    say("null %d", star == MPI_COMM_NULL);
    if (star != MPI_COMM_NULL) MPI_Comm_free(&star);
}

CASE(distributed_graph) {
    // Each rank sends to all greater ones: the first has no source, the last no destination.
    int to[4], from[4], out_degree = 0, in_degree = 0, weights[4] = {1, 2, 3, 4}, is_weighted, a, b;
    MPI_Comm graph;
    for (int i = rank + 1; i < size; i++) to[out_degree++] = i;
    for (int i = 0; i < rank; i++) from[in_degree++] = i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_degree, from, MPI_UNWEIGHTED, out_degree, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &a, &b, &is_weighted);
    say("%d in %d out, weighted %d", a, b, is_weighted);
    exchange(graph, in_degree, 0);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_degree, from,
                                   in_degree ? weights : MPI_WEIGHTS_EMPTY, out_degree, to,
                                   out_degree ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &a, &b, &is_weighted);
    say("%d in %d out, weighted %d", a, b, is_weighted);
    MPI_Comm_free(&graph);
    // Rank 0 knows all edges; the others give nothing.
    int sources[2] = {0, 2}, degrees[2] = {1, 2}, destinations[3] = {1, 0, 3};
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank ? 0 : 2, rank ? 0 : sources, rank ? 0 : degrees,
                          rank ? 0 : destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in_degree, &out_degree, &is_weighted);
    exchange(graph, in_degree, 0);
    MPI_Comm_free(&graph);
}

// Nobody has a neighbour, and null arrays are allowed.
CASE(graph_without_edges) {
    MPI_Comm graph;
    int a = -1, b = -1, is_weighted = -1;
#ifdef OPEN_MPI
    SKIP("Open MPI 4.1.4 itself rejects operations of no neighbours");
#endif
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, 0, MPI_WEIGHTS_EMPTY, 0, 0, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &a, &b, &is_weighted);
    say("%d %d", a, b);
    exchange(graph, 0, 1);
    MPI_Comm_free(&graph);
}

CASE(where_ranks_would_be_put) {
    int dims[2] = {0, 0}, periods[2] = {0, 0}, new_rank = -9;
    MPI_Dims_create(4, 2, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &new_rank);
    say("grid %d %d, rank %d", dims[0], dims[1], new_rank);
    MPI_Graph_map(MPI_COMM_WORLD, 4, (int[]){1, 2, 3, 4}, (int[]){1, 0, 3, 2}, &new_rank);
    say("graph: rank %d", new_rank);
}
