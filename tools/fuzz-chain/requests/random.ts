import { formatQuantity } from '../../../src/lib/hex.js'
import type { SeededRandom } from '../../../test/support/random.js'
import type { ChainFacts } from '../facts.js'

/** A request as both servers get it. */
export interface Request {
  method: string
  params: unknown[]
}

/** Random choices about a chain. */
export interface Choices {
  readonly random: SeededRandom
  readonly facts: ChainFacts
  pick<T>(values: readonly T[]): T
  /** True once in `n` times. */
  oneIn(n: number): boolean
  /** The made value, or undefined, once in `n` times present. */
  sometimes<T>(n: number, make: () => T): T | undefined
  address(): string
  blockNumber(): number
  /** QUANTITY, tag, hash or object of EIP-1898. */
  stateBlock(): unknown
  data(length: number): string
}

/** Choices by a generator of random numbers. */
export function createChoices(random: SeededRandom, facts: ChainFacts): Choices {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]
  const oneIn = (n: number) => random.below(n) === 0
  const data = (length: number) => `0x${Buffer.from(random.bytes(length)).toString('hex')}`
  const blockNumber = () => random.below(facts.head + 1)
  return {
    random,
    facts,
    pick,
    oneIn,
    sometimes: (n, make) => (oneIn(n) ? make() : undefined),
    address: () => (oneIn(20) ? data(20) : pick(facts.addresses)),
    blockNumber,
    stateBlock: () => {
      const number = blockNumber()
      const kind = random.below(8)
      if (kind === 0) return 'latest'
      if (kind === 1) return facts.blockHashes[number]
      if (kind === 2) return { blockHash: facts.blockHashes[number], requireCanonical: oneIn(2) }
      if (kind === 3) return { blockNumber: formatQuantity(number) }
      return formatQuantity(number)
    },
    data,
  }
}
