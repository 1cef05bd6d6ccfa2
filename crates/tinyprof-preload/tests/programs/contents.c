/* Asks for the contents of a datatype that is made of none, with an array whose values are
 * undefined: MPI may not look at them, and Open MPI 4.1 does. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Datatype made, inside[4];
    int integers[2] = {0, 0}, numbers, addresses, types, combiner;
    MPI_Init(&argc, &argv);
    memset(inside, 0x11, sizeof inside);
    MPI_Type_create_f90_real(3, 10, &made);
    MPI_Type_get_envelope(made, &numbers, &addresses, &types, &combiner);
    MPI_Type_get_contents(made, 2, 0, 4, integers, NULL, inside);
    printf("%d types, precision %d, range %d\n", types, integers[0], integers[1]);
    MPI_Finalize();
    return 0;
}
