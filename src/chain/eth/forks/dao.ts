import { defineFork } from './fork.js'

/** Moves balances once: `daoFork` in evm/transition. */
export const dao = defineFork('dao', { keys: ['daoForkBlock'] })
