import { fromTables } from '../../../src/store/state/historySql.js'

/** All rows of accounts, to stand after FROM. */
export const ACCOUNT_ROWS = `(${fromTables('account', (table) => `SELECT * FROM ${table}`)})`
/** All rows of slots, to stand after FROM. */
export const STORAGE_ROWS = `(${fromTables('storage', (table) => `SELECT * FROM ${table}`)})`
