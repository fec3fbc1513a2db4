import type { Header } from '../../../chain/eth/types.js'
import { SimulationRefused } from '../../errors.js'
import type { BlockOverrides } from '../overrides.js'
import {
  MAX_SIMULATED_BLOCKS,
  MAX_SIMULATED_CALLS,
  MAX_SIMULATED_CALLS_OF_BLOCK,
  type PlannedBlock,
} from './simulation.js'

/** Default seconds between simulated blocks. */
const BLOCK_SECONDS = 12n
const MAX_TIMESTAMP = 2n ** 64n - 1n

/** A planned block with its number and time. */
export type NumberedBlock = PlannedBlock & { block: BlockOverrides & { number: number; timestamp: bigint } }

/** Adds numbers and times to the planned blocks, and empty blocks for skipped numbers. @throws SimulationRefused for
 *  numbers or times that do not increase, and beyond the limits. */
export function planBlocks(planned: readonly PlannedBlock[], base: Header): NumberedBlock[] {
  requireCounts(planned)
  const blocks: NumberedBlock[] = []
  let { number, timestamp } = base
  const add = (each: PlannedBlock, at: { number: number; timestamp: bigint }) => {
    if (at.timestamp > MAX_TIMESTAMP) refuse('block timestamp', `block timestamps must be below 2^64: ${at.timestamp}`)
    blocks.push({ ...each, block: { ...each.block, ...at } })
    number = at.number
    timestamp = at.timestamp
  }
  for (const each of planned) {
    const wanted = each.block?.number ?? number + 1
    if (wanted <= number) refuse('block number', `block numbers must be in order: ${wanted} <= ${number}`)
    if (wanted - base.number > MAX_SIMULATED_BLOCKS) refuse('limit', 'too many blocks')
    while (number + 1 < wanted) add({ calls: [] }, { number: number + 1, timestamp: timestamp + BLOCK_SECONDS })
    const time = each.block?.timestamp ?? timestamp + BLOCK_SECONDS
    if (time <= timestamp) refuse('block timestamp', `block timestamps must be in order: ${time} <= ${timestamp}`)
    add(each, { number: wanted, timestamp: time })
  }
  return blocks
}

function requireCounts(planned: readonly PlannedBlock[]): void {
  if (planned.length > MAX_SIMULATED_BLOCKS) refuse('limit', 'too many blocks')
  let total = 0
  for (const { calls } of planned) {
    if (calls.length > MAX_SIMULATED_CALLS_OF_BLOCK) {
      refuse('limit', `too many calls in block: ${calls.length} > ${MAX_SIMULATED_CALLS_OF_BLOCK}`)
    }
    total += calls.length
    if (total > MAX_SIMULATED_CALLS) refuse('limit', `too many calls: ${total} > ${MAX_SIMULATED_CALLS}`)
  }
}

function refuse(rule: 'block number' | 'block timestamp' | 'limit', message: string): never {
  throw new SimulationRefused(rule, message)
}
