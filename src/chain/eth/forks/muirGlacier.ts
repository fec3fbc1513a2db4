import { defineFork } from './fork.js'

/** EIP-2384. */
export const muirGlacier = defineFork('muirGlacier', {
  keys: ['muirGlacierBlock'],
  parameters: { bombDelay: 9_000_000 },
})
