import { fromBoth } from '../../../src/store/state/historySql.js'

/** All rows of accounts, to stand after FROM. */
export const ACCOUNT_ROWS = `(${fromBoth('account', (table) => `SELECT * FROM ${table}`)})`
/** All rows of slots, to stand after FROM. */
export const STORAGE_ROWS = `(${fromBoth('storage', (table) => `SELECT * FROM ${table}`)})`
