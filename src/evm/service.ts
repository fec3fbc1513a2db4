import type { AccessListEntry, Authorization } from '../chain/eth/types.js'
import type { Deadline } from '../lib/deadline.js'
import { createChainReader } from '../store/chainReader.js'
import type { Database } from '../store/open.js'
import { createStateReader } from '../store/stateReader.js'
import { createCallRunner } from './call.js'
import { estimateGas } from './estimateGas.js'

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
  /** What the call returns. The gas limit is clamped to `gasCapPercent` of the block's. An endless loop is stopped only
   *  by the thread that waits.
   *  @throws StateUnavailable, CallReverted, CallFailed. */
  call(request: CallRequest, blockNumber: number, gasCapPercent: number): Promise<Uint8Array>
  /** A gas limit with which the call succeeds, at most 1.5 % above the least, as geth's search finds it.
   *  @throws StateUnavailable, CallReverted, CallFailed, and DeadlineExceeded between two tries. */
  estimateGas(request: CallRequest, blockNumber: number, gasCapPercent: number, deadline: Deadline): Promise<bigint>
  /** Runs a small call, so that the first real one finds the code compiled. */
  warm(): Promise<void>
}

/** An EVM service over an open database. */
export function createEvmService(db: Database): EvmService {
  const chain = createChainReader(db)
  const runner = createCallRunner(chain, createStateReader(db))
  return {
    call: async (request, blockNumber, gasCapPercent) => {
      const site = runner.at(blockNumber)
      const outcome = await site.run(request, site.clampGas(request.gas, gasCapPercent))
      return site.requireOutput(outcome)
    },
    estimateGas: (request, blockNumber, gasCapPercent, deadline) =>
      estimateGas(runner.at(blockNumber), request, gasCapPercent, deadline),
    warm: async () => {
      const head = chain.head()
      if (head === undefined || chain.coverage()?.stateFirst === undefined) return
      await runner.at(head).run({ to: new Uint8Array(20) }, 100_000n)
    },
  }
}
