import type { SeededRandom } from '../../test/support/random.js'

/** When the forks of a chain begin, and the times of its blocks. */
export interface Schedule {
  /** Members of `config` in a genesis. */
  config: object
  genesisTime: number
  /** Seconds from each block to the next, from block 0 on. */
  gaps: number[]
}

const BLOCK_FORKS = [
  ['homesteadBlock'],
  ['eip150Block'],
  ['eip155Block', 'eip158Block'],
  ['byzantiumBlock'],
  ['constantinopleBlock'],
  ['petersburgBlock'],
  ['istanbulBlock'],
  ['muirGlacierBlock'],
  ['berlinBlock'],
  ['londonBlock'],
  ['arrowGlacierBlock'],
  ['grayGlacierBlock'],
] as const
const TIME_FORKS = ['shanghai', 'cancun', 'prague', 'osaka', 'bpo1', 'bpo2'] as const

/** The last fork: of the networks, or of geth's dev mode. */
export type LastFork = 'amsterdam' | 'bogota'

const GENESIS_TIME = 1_735_689_600 // 2025-01-01
const MIN_DIFFICULTY = 131_072
/** Blocks after the last fork, unless said otherwise. */
const TAIL = 4

/** Forks to the last one, 0 to 3 blocks apart, so that some have no block of their own, and blocks 1 to 30 seconds
 *  apart. `tail` blocks come after the last one. */
export function randomSchedule(random: SeededRandom, last: LastFork, tail = TAIL): Schedule {
  const config: { [name: string]: unknown } = {}
  let block = 0
  for (const names of BLOCK_FORKS) {
    block += random.below(4)
    for (const name of names) config[name] = block
  }
  const merge = block + 1 + random.below(3)
  // Difficulties stay within a small part of the lowest one, so block `merge - 1` is the first to reach this.
  config.terminalTotalDifficulty = merge * MIN_DIFFICULTY - MIN_DIFFICULTY / 2
  // geth's simulations know the merge by this.
  config.mergeNetsplitBlock = merge
  const first = { number: merge, forks: [] as [string, number][] }
  for (const fork of [...TIME_FORKS, last]) {
    first.number += fork === 'shanghai' ? 1 + random.below(3) : random.below(5)
    first.forks.push([fork, first.number])
  }
  const gaps = Array.from({ length: first.number + tail }, () => 1 + random.below(30))
  const times = [GENESIS_TIME]
  for (const gap of gaps) times.push(times[times.length - 1] + gap)
  for (const [fork, number] of first.forks) config[`${fork}Time`] = times[number]
  config.blobSchedule = {
    cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
    prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
    osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
    bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193 },
    bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671 },
  }
  return { config, genesisTime: GENESIS_TIME, gaps }
}
