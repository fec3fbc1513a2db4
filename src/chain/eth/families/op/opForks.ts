import type { ChainSpec, ForkActivation } from '../../forks/rules.js'
import type { BaseFork, OpFork, OpRules } from './opRules.js'

/** True when `fork` is active at a time (Unix seconds). */
export function hasOpFork({ op }: Pick<ChainSpec, 'op'>, fork: OpFork, timestamp: bigint): boolean {
  const time = op!.times[fork]
  return time !== undefined && timestamp >= time
}

/** True when `fork` of Base is active at a time (Unix seconds). */
export function hasBaseFork({ op }: Pick<ChainSpec, 'op'>, fork: BaseFork, timestamp: bigint): boolean {
  const time = op!.baseTimes?.[fork]
  return time !== undefined && timestamp >= time
}

/** Forks of Ethereum that begin with one of the OP stack. */
const ETHEREUM_FORKS = [
  ['shanghai', 'canyon'],
  ['cancun', 'ecotone'],
  ['prague', 'isthmus'],
  ['osaka', 'karst'],
  ['osaka', 'azul'],
] as const

const BLOCK_FORKS = [
  'frontier',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'muirGlacier',
  'berlin',
  'london',
  'arrowGlacier',
  'grayGlacier',
  'paris',
] as const

/** Returns the activations of Ethereum's forks on a chain of the OP stack, whose blocks from Bedrock on have all forks
 *  by number. */
export function ethereumForksOf({ times, baseTimes }: Pick<OpRules, 'times' | 'baseTimes'>): ForkActivation[] {
  const all: { readonly [fork: string]: bigint | undefined } = { ...times, ...baseTimes }
  const byTime = ETHEREUM_FORKS.flatMap(([fork, other]): ForkActivation[] => {
    const timestamp = all[other]
    return timestamp === undefined ? [] : [{ fork, timestamp }]
  })
  return [...BLOCK_FORKS.map((fork): ForkActivation => ({ fork, block: 0 })), ...byTime]
}
