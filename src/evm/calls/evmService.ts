import type { BlockAccessList } from '../../chain/eth/blockAccessList.js'
import type { Deadline } from '../../lib/deadline.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import type { CreatedAccessList } from './accessList.js'
import type { BlockWitness } from './blockReplay.js'
import type { CallLimits } from './callContext.js'
import type { CallRequest } from './callRequest.js'
import type { SimulatedBlock, Simulation, SimulationLimits } from './simulation/simulation.js'
import type { AccountProof, ProofRequest } from './stateProofs.js'

/** Executes calls at any block whose state is stored. All methods may throw EvmPending: of a service that is not loaded
 *  yet, or of the reference interpreter, which is asynchronous. */
export interface EvmService {
  /** The return data of the call. @throws StateUnavailable, CallReverted, CallFailed, CallRefused, CallMemoryExceeded,
   *  ReturnDataTooLong; DeadlineExceeded, except with the reference interpreter. */
  call(request: CallRequest, blockNumber: number, limits: CallLimits, deadline: Deadline): Uint8Array
  /** A gas limit with which the call succeeds, at most 1.5 % above the minimum, as geth estimates it. @throws what
   *  `call` throws; with the reference interpreter DeadlineExceeded only between runs. */
  estimateGas(request: CallRequest, blockNumber: number, limits: CallLimits, deadline: Deadline): bigint
  /** Returns the access list of a block by re-executing it (EIP-7928); undefined for a block before Amsterdam. @throws
   *  StateUnavailable, DeadlineExceeded */
  blockAccessList(blockNumber: number, deadline: Deadline): BlockAccessList | undefined
  /** Returns the witness for re-executing a block. @throws StateUnavailable, PastTrieTooFar, DeadlineExceeded */
  executionWitness(blockNumber: number, deadline: Deadline): BlockWitness
  /** Returns an account with Merkle proofs (EIP-1186). @throws StateUnavailable, PastTrieTooFar, DeadlineExceeded */
  proveAccount(request: ProofRequest, blockNumber: number, deadline: Deadline): AccountProof
  /** Returns the state roots, 32 bytes each, after each of `changes`, applied in sequence to the state after the block.
   *  @throws StateUnavailable, PastTrieTooFar, DeadlineExceeded */
  stateRoots(changes: readonly (readonly TouchedAccount[])[], blockNumber: number, deadline: Deadline): Uint8Array[]
  /** Returns the access list of a call (EIP-2930). @throws what `call` throws, except CallReverted */
  createAccessList(request: CallRequest, blockNumber: number, limits: CallLimits, deadline: Deadline): CreatedAccessList
  /** Simulates blocks on top of a stored one (eth_simulateV1). @throws what `call` throws, SimulationRefused,
   *  PastTrieTooFar */
  simulate(
    simulation: Simulation,
    blockNumber: number,
    limits: CallLimits & SimulationLimits,
    deadline: Deadline,
  ): SimulatedBlock[]
}
