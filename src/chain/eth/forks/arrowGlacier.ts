import { defineFork } from './fork.js'

/** EIP-4345. */
export const arrowGlacier = defineFork('arrowGlacier', {
  keys: ['arrowGlacierBlock'],
  parameters: { bombDelay: 10_700_000 },
})
