import type { Block, Log } from '../../../chain/eth/types.js'
import type { CallRequest } from '../callRequest.js'
import type { AccountOverride, BlockOverrides } from '../overrides.js'

/** Blocks to simulate on top of a stored one (execution-apis, eth_simulateV1). */
export interface Simulation {
  blocks: readonly PlannedBlock[]
  /** Checks nonces and base fees as a chain does; otherwise calls without fees are free. */
  isValidated: boolean
  /** Adds a log of `TRANSFER_LOG_ADDRESS` for each transfer of ether. */
  tracesTransfers: boolean
}

/** A block to simulate. */
export interface PlannedBlock {
  accounts?: readonly AccountOverride[]
  block?: BlockOverrides
  calls: readonly CallRequest[]
}

/** A simulated block with its hashes and roots. */
export interface SimulatedBlock {
  block: Block
  totalDifficulty: bigint
  calls: SimulatedCall[]
}

/** What came of a call: its transaction is that of the block at the same index. */
export interface SimulatedCall {
  status: 'success' | 'revert' | 'halt'
  /** In geth's words, if the status is not success. */
  failure?: string
  output: Uint8Array
  gasUsed: bigint
  /** Before the refund. */
  maxUsedGas: bigint
  /** Of the receipt, and those of transfers. A failed call has none. */
  logs: { log: Log; logIndex: number }[]
}

/** Limits of a simulation besides those of calls. */
export interface SimulationLimits {
  /** Gas of all its calls together. */
  maxSimulationGas: number
}

/** Blocks of a simulation, those between its numbers included, and calls of a block and of all (geth). */
export const MAX_SIMULATED_BLOCKS = 256
export const MAX_SIMULATED_CALLS_OF_BLOCK = 5000
export const MAX_SIMULATED_CALLS = 10_000
