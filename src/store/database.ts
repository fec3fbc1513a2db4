import type SqliteDatabase from 'better-sqlite3'

/** An open connection of better-sqlite3. */
export type Database = SqliteDatabase.Database
/** A prepared statement. */
export type Statement = SqliteDatabase.Statement
