// Files: reading and writing in all forms, with nothing, ignored statuses and requests.
#define RANKS 2
#include "case.h"

static MPI_File file;
static char name[64];

static void begin(void) {
    strcpy(name, "conformance-XXXXXX");
    if (rank == 0) close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
}

static int count_of(MPI_Status *status) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    return count;
}

static void settle(void) {
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
}

CASE(at_places) {
    int values[4] = {rank, 10 + rank, 20 + rank, 30 + rank}, got[4] = {-1, -1, -1, -1};
    MPI_Status status;
    begin();
    MPI_File_write_at(file, rank * 16, values, 4, MPI_INT, &status);
    say("written %d", count_of(&status));
    settle();
    MPI_File_read_at(file, (1 - rank) * 16, got, 4, MPI_INT, &status);
    say("read %d: %d %d", count_of(&status), got[0], got[3]);
    MPI_File_read_at(file, 24, got, 4, MPI_INT, &status);
    say("at the end: %d", count_of(&status));
    MPI_File_read_at(file, 100, got, 4, MPI_INT, &status);
    say("behind the end: %d", count_of(&status));
    MPI_File_read_at(file, 0, got, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 0, 0, 0, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, rank * 16, got, 4, MPI_INT, &status);
    say("together: %d", got[3]);
    MPI_File_write_at_all(file, rank * 16, got, 0, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

CASE(with_pointers) {
    int values[2] = {rank, 5}, got[4] = {-1, -1, -1, -1};
    MPI_Offset offset;
    MPI_Status status;
    begin();
    MPI_File_seek(file, rank * 8, MPI_SEEK_SET);
    MPI_File_write(file, values, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_position(file, &offset);
    say("at %d", (int)offset);
    settle();
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, got, 4, MPI_INT, &status);
    say("%d %d %d %d", got[0], got[1], got[2], got[3]);
    MPI_File_seek(file, rank * 8, MPI_SEEK_SET);
    MPI_File_write_all(file, values, 2, MPI_INT, &status);
    settle();
    MPI_File_write_ordered(file, values, 1, MPI_INT, &status);
    settle();
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, got, 1, MPI_INT, &status);
    say("ordered: %d, read %d", got[0], count_of(&status));
    if (rank == 0) {
        MPI_File_read_shared(file, got, 1, MPI_INT, &status);
        MPI_File_write_shared(file, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
}

CASE(with_requests) {
    int values[2] = {rank, 5 + rank}, got[7] = {0};
    MPI_Request requests[3];
    MPI_Status statuses[3];
    begin();
    MPI_File_iwrite_at(file, rank * 8, values, 2, MPI_INT, &requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    say("written %d", count_of(&statuses[0]));
    settle();
    MPI_File_iread_at(file, 0, got, 4, MPI_INT, &requests[0]);
    MPI_Irecv(&got[6], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, statuses);
    say("%d %d %d %d, received %d", got[0], got[1], got[2], got[3], got[6]);
    say("read %d", count_of(&statuses[0]));
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_iread(file, got, 1, MPI_INT, &requests[0]);
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    MPI_File_iwrite(file, got, 0, MPI_INT, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, 4 * rank, got, 1, MPI_INT, &requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    say("together: %d", got[0]);
    MPI_File_close(&file);
}

CASE(in_two_steps) {
    int values[2] = {rank, 7}, got[2] = {-1, -1};
    MPI_Status status;
    begin();
    MPI_File_write_at_all_begin(file, rank * 8, values, 2, MPI_INT);
    MPI_File_write_at_all_end(file, values, &status);
    settle();
    MPI_File_read_at_all_begin(file, (1 - rank) * 8, got, 2, MPI_INT);
    MPI_File_read_at_all_end(file, got, &status);
    say("%d %d, read %d", got[0], got[1], count_of(&status));
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all_begin(file, got, 1, MPI_INT);
    MPI_File_read_all_end(file, got, MPI_STATUS_IGNORE);
    say("%d", got[0]);
    MPI_File_close(&file);
}

CASE(what_files_are) {
    MPI_Offset bytes = -1;
    MPI_Group group;
    MPI_Info info;
    int mode, is_atomic;
    begin();
    MPI_File_set_size(file, 100);
    MPI_File_get_size(file, &bytes);
    MPI_File_get_amode(file, &mode);
    MPI_File_set_atomicity(file, 1);
    MPI_File_get_atomicity(file, &is_atomic);
    MPI_File_get_group(file, &group);
    MPI_File_get_info(file, &info);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    say("%d bytes, mode %d, atomic %d", (int)bytes, mode, is_atomic);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write(file, &mode, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    // Deleting what is not there is an error, which files return by default.
    say("class %d", class_of(MPI_File_delete("not there", MPI_INFO_NULL)));
}
