import SqliteDatabase from 'better-sqlite3'

/** What SQLite says of an extension whose entry point does not return 0. */
const RETURNED = /error during initialization/

/** Returns the memory that was freed, and that glibc keeps for later allocations, to the system: of all threads of this
 *  process, in some 70 ms for half a gigabyte. An allocation of another thread may wait meanwhile. glibc does so by
 *  itself only at the end of its arenas, where a small allocation keeps hundreds of megabytes before it.
 *
 *  Node has no function for this. SQLite can load any library and call a function of it, whose result 1 it takes for an
 *  error: that of `malloc_trim(3)` when memory was returned. The one parameter of `malloc_trim` is how much to keep at
 *  the end of the main arena; it gets an address, and so keeps all there.
 *
 *  @returns true when there was any; false also where the C library is not glibc, which need not hold back memory */
export function returnFreedMemory(): boolean {
  if (process.platform !== 'linux') return false
  let db: SqliteDatabase.Database | undefined
  try {
    db = new SqliteDatabase(':memory:')
    loadExtension(db, 'libc.so.6', 'malloc_trim')
    return false
  } catch (error) {
    return error instanceof Error && RETURNED.test(error.message)
  } finally {
    db?.close()
  }
}

/** Loads a library and calls its entry point, a parameter that the types of better-sqlite3 lack. */
function loadExtension(db: SqliteDatabase.Database, library: string, entryPoint: string): void {
  ;(db.loadExtension as (library: string, entryPoint: string) => void).call(db, library, entryPoint)
}
