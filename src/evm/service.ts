import type { AccessListEntry, Authorization } from '../chain/eth/types.js'
import { type Deadline, noDeadline } from '../lib/deadline.js'
import { createChainReader } from '../store/chainReader.js'
import type { Database } from '../store/open.js'
import { SlotReader } from '../store/slotReader.js'
import { createStateReader } from '../store/stateReader.js'
import { createCallRunner } from './call.js'
import { ZERO_ADDRESS } from './callChecks.js'
import { clampGas, requireOutput } from './callSite.js'
import { finishSearch, searchGas } from './estimateGas.js'
import type { VerifyKzgProof } from './interpreter/precompiles.js'
import type { EvmKind } from './kinds.js'
import { loadKzgVerifier } from './kzg.js'

/** A message call as `eth_call` describes it; absent fields take the defaults of geth. */
export interface CallRequest {
  from?: Uint8Array // 20; the zero address
  to?: Uint8Array // 20; absent: create a contract
  gas?: bigint
  gasPrice?: bigint
  maxFeePerGas?: bigint
  maxPriorityFeePerGas?: bigint
  maxFeePerBlobGas?: bigint
  value?: bigint
  data?: Uint8Array
  nonce?: bigint
  accessList?: AccessListEntry[]
  blobVersionedHashes?: Uint8Array[]
  authorizationList?: Authorization[]
}

/** Execution of calls at any block whose state is held. Runs in reader threads. */
export interface EvmService {
  /** What the call returns. The gas limit is clamped to `gasCapPercent` of the block's.
   *  @throws StateUnavailable, CallReverted, CallFailed; DeadlineExceeded, which the reference interpreter never does. */
  call(request: CallRequest, blockNumber: number, gasCapPercent: number, deadline: Deadline): Promise<Uint8Array>
  /** A gas limit with which the call succeeds, at most 1.5 % above the least, as geth's search finds it.
   *  @throws StateUnavailable, CallReverted, CallFailed, DeadlineExceeded, by the reference interpreter only between tries. */
  estimateGas(request: CallRequest, blockNumber: number, gasCapPercent: number, deadline: Deadline): Promise<bigint>
  /** Runs a small call, so that the first real one finds the code compiled. */
  warm(): Promise<void>
}

/** An EVM service over an open database, by that kind of interpreter. The other one is not loaded. */
export async function loadEvmService(db: Database, kind: EvmKind): Promise<EvmService> {
  if (kind === 'cairn') return createEvmService(db, await loadKzgVerifier())
  const { createReferenceService } = await import('./reference/service.js')
  return createReferenceService(db)
}

const WARM_GAS = 100_000n

function createEvmService(db: Database, verifyKzgProof: VerifyKzgProof): EvmService {
  const chain = createChainReader(db)
  const runner = createCallRunner(
    { chain, reader: createStateReader(db), slotReader: new SlotReader(db) },
    verifyKzgProof,
  )
  // All of a request sees one state of the database, and need not ask for it at each read.
  const inSnapshot = db.transaction(<T>(work: () => T): T => work()) as <T>(work: () => T) => T
  return {
    call: async (request, blockNumber, gasCapPercent, deadline) =>
      inSnapshot(() => {
        const site = runner.at(blockNumber)
        return requireOutput(site.run(request, clampGas(site.header, request.gas, gasCapPercent), deadline))
      }),
    estimateGas: async (request, blockNumber, gasCapPercent, deadline) =>
      inSnapshot(() => {
        const site = runner.at(blockNumber)
        const search = searchGas(site, request, gasCapPercent)
        return finishSearch(search, (gasLimit) => site.run(request, gasLimit, deadline))
      }),
    warm: async () =>
      inSnapshot(() => {
        const head = chain.head()
        if (head === undefined || chain.coverage()?.stateFirst === undefined) return
        runner.at(head).run({ to: ZERO_ADDRESS }, WARM_GAS, noDeadline)
      }),
  }
}
