/* The ways in which benches/calls/behind.c calls MPI. A call behind a wrapper is one of a function
 * that is named like MPI's, as in the files of stubs that large codes have; `hop_` does the same
 * under a name that says nothing, and so costs what the functions themselves cost. */
int comm_rank(int *rank), hop_1(int *rank);
int comm_send(char *buffer, int bytes, int to), hop_2(char *buffer, int bytes, int to);
int comm_recv(char *buffer, int bytes, int from), hop_3(char *buffer, int bytes, int from);
int comm_allreduce(char *buffer, int bytes), hop_4(char *buffer, int bytes);

/* A wrapper around the wrapper, and a function around the function. */
int my_send(char *buffer, int bytes, int to), outer_2(char *buffer, int bytes, int to);
