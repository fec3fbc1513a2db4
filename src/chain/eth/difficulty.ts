import { equalBytes } from '../../lib/bytes.js'
import { EMPTY_UNCLES_HASH } from './emptyHashes.js'
import type { Rules } from './forks/rules.js'
import type { Header } from './types.js'

const MIN_DIFFICULTY = 131_072n
const BOMB_PERIOD = 100_000

/** The difficulty that Ethash requires of a block with this number and time after `parent`, by the rules of that block
 *  (Yellow Paper 4.3.4; EIP-2, EIP-100, and the bomb's delays: EIP-649, 1234, 2384, 3554, 4345, 5133). */
export function nextDifficulty(parent: Header, number: number, timestamp: bigint, rules: Rules): bigint {
  const step = parent.difficulty / 2048n
  let difficulty = parent.difficulty + step * BigInt(adjustment(parent, timestamp, rules))
  if (difficulty < MIN_DIFFICULTY) difficulty = MIN_DIFFICULTY
  const period = Math.floor(Math.max(0, number - rules.bombDelay) / BOMB_PERIOD) - 2
  if (period >= 0) difficulty += 1n << BigInt(period)
  // Frontier bounds the sum as well; from Homestead on the bomb is added after the bound.
  return difficulty
}

function adjustment(parent: Header, timestamp: bigint, rules: Rules): number {
  // Rounded beyond 2^53, where the bound of -99 has long been reached.
  const elapsed = Number(timestamp - parent.timestamp)
  if (rules.difficulty === 'byzantium') {
    const hasUncles = !equalBytes(parent.unclesHash, EMPTY_UNCLES_HASH)
    return Math.max((hasUncles ? 2 : 1) - Math.floor(elapsed / 9), -99)
  }
  if (rules.difficulty === 'homestead') return Math.max(1 - Math.floor(elapsed / 10), -99)
  return elapsed < 13 ? 1 : -1
}
