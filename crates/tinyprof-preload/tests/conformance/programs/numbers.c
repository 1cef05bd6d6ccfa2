// Numbers that MPI gives to what the program makes: handles, keyvals, Fortran's integers, and how
// many communicators there are. A library that makes objects before the program shifts them.
#define RANKS 2
#include "case.h"

CASE(handles) {
    MPI_Comm made[4];
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request request;
    int key, value;
    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        say_number("communicator %d", MPI_Comm_c2f(made[i]));
    }
    MPI_Comm_group(made[0], &group);
    say_number("group %d", MPI_Group_c2f(group));
    MPI_Group_free(&group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    say_number("type %d", MPI_Type_c2f(type));
    MPI_Type_free(&type);
    MPI_Op_create((MPI_User_function *)say, 1, &op);
    say_number("op %d", MPI_Op_c2f(op));
    MPI_Op_free(&op);
    MPI_Info_create(&info);
    say_number("info %d", MPI_Info_c2f(info));
    MPI_Info_free(&info);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)say, &handler);
    say_number("handler %d", MPI_Errhandler_c2f(handler));
    MPI_Errhandler_free(&handler);
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &request);
    say_number("request %d", MPI_Request_c2f(request));
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, 0);
    say_number("keyval %d", key);
    MPI_Comm_free_keyval(&key);
    for (int i = 0; i < 4; i++) MPI_Comm_free(&made[i]);
    say("world %d self %d null %d", MPI_Comm_c2f(MPI_COMM_WORLD), MPI_Comm_c2f(MPI_COMM_SELF),
        MPI_Comm_c2f(MPI_COMM_NULL));
}

CASE(order_of_ranks) {
    MPI_Comm made;
    int new_rank;
    int keys[4] = {-rank, 5, rank * 3, 0};
    for (int i = 0; i < 4; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, keys[i], &made);
        MPI_Comm_rank(made, &new_rank);
        say("key %d: rank %d", keys[i], new_rank);
        MPI_Comm_free(&made);
    }
}

CASE(limits_and_names) {
    char text[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_get_name(made, text, &length);
    // Open MPI numbers communicators in their names.
    say_number("name %s", text);
    MPI_Comm_free(&made);
    MPI_Comm_get_name(MPI_COMM_SELF, text, &length);
    say("%s", text);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    say("no parent %d", parent == MPI_COMM_NULL);
}

#ifndef OPEN_MPI
// MPICH has about 2,000 communicators; ours are missing in that count, and the attempt that fails
// is the program's own.
CASE(communicators_until_there_are_no_more) {
    static MPI_Comm made[5000];
    int count = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (count < 5000 && MPI_Comm_dup(MPI_COMM_WORLD, &made[count]) == MPI_SUCCESS) count++;
    say_number("about %d", count / 20);
    for (int i = 0; i < count; i++) MPI_Comm_free(&made[i]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
#endif
