import { defineFork } from './fork.js'

/** The merge (EIP-3675), which begins by total difficulty or by the forks after it. */
export const paris = defineFork('paris')
