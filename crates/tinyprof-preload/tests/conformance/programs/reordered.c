// MPI_Dist_graph_create with reorder, which Open MPI answers by an algorithm that communicators
// made earlier can disturb (issue 25: item 6). Jobs of their own, as nothing must have happened
// before.
#include "case.h"

// Makes the same graph several times, with weights by which ranks are grouped, and says the order.
static void reorder(int times) {
    initialise();
    for (int i = 0; i < times; i++) {
        MPI_Comm graph;
        int others[3], weights[3], count = 0, new_rank, is_weighted, a, b;
        for (int j = 0; j < size; j++)
            if (j != rank) weights[count] = (j + rank) % 3 * 10 + 1, others[count++] = j;
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &count, others, weights, MPI_INFO_NULL, 1,
                              &graph);
        MPI_Comm_rank(graph, &new_rank);
        MPI_Dist_graph_neighbors_count(graph, &a, &b, &is_weighted);
        say("rank %d, %d in %d out, weighted %d", new_rank, a, b, is_weighted);
        MPI_Comm_free(&graph);
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, others, weights, count, others, weights,
                                       MPI_INFO_NULL, 1, &graph);
        MPI_Comm_rank(graph, &new_rank);
        say("adjacent: rank %d", new_rank);
        MPI_Comm_free(&graph);
    }
    MPI_Finalize();
}

ALONE(once, 4) { reorder(1); }
ALONE(again, 4) { reorder(3); }
ALONE(of_three, 3) { reorder(1); }
