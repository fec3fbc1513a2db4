import { defineFork } from './fork.js'

/** EIP-5133. */
export const grayGlacier = defineFork('grayGlacier', {
  keys: ['grayGlacierBlock'],
  parameters: { bombDelay: 11_400_000 },
})
