import type { Block, Log } from '../../../chain/eth/types.js'
import type { CallRequest } from '../callRequest.js'
import type { AccountOverride, BlockOverrides } from '../overrides.js'

/** Blocks to simulate on top of a stored one (execution-apis, eth_simulateV1). */
export interface Simulation {
  blocks: readonly PlannedBlock[]
  /** Checks nonces and base fees as a chain does; if false, calls without fees are free. */
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

/** The outcome of a call. Its transaction is at the same index in the block. */
export interface SimulatedCall {
  status: 'success' | 'revert' | 'halt'
  /** Set if the status is not success, in geth's words. */
  failure?: string
  output: Uint8Array
  gasUsed: bigint
  /** Gas used before the refund. */
  maxUsedGas: bigint
  /** Logs of the receipt and of transfers. Empty for a failed call. */
  logs: { log: Log; logIndex: number }[]
}

/** Limits of a simulation, in addition to those of calls. */
export interface SimulationLimits {
  /** Gas of all its calls together. */
  maxSimulationGas: number
}

/** Maximum blocks of a simulation, including those that fill gaps, and calls per block and in total (geth). */
export const MAX_SIMULATED_BLOCKS = 256
export const MAX_SIMULATED_CALLS_OF_BLOCK = 5000
export const MAX_SIMULATED_CALLS = 10_000
