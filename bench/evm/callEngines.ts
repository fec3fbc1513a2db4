import { loadEvmService } from '../../src/evm/calls/loadEvmService.js'
import { deadlineAfter } from '../../src/lib/deadline.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import type { Database } from '../../src/store/database.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { readChainSource } from '../../src/store/rows/chainSource.js'
import { evmOutcome } from '../../test/support/evmOutcome.js'
import { readHeadState } from './databases.js'
import { createDefaultCommon, createDefaultVm, runDefaultCall, toPackageBlock } from './packageDefaults.js'
import type { EngineName } from './plans.js'
import type { BenchCall } from './shapes.js'

/** Runs a call at the head and gives what it returns. @throws when it fails. */
export type RunCall = (call: BenchCall) => Promise<Uint8Array>

// A deadline that is looked at and never passes, not even when the machine stands still for a while.
const FAR_MS = 3_600_000

/** What runs calls at the head of the database: the service that reader threads have, or the packages as they come over
 *  a copy of the head's state. */
export async function openCallEngine(engine: EngineName, db: Database): Promise<RunCall> {
  const chain = createChainReader(db)
  const head = chain.head()!
  if (engine !== 'defaults') {
    const service = await loadEvmService(db, engine)
    return (call) => evmOutcome(service, (evm) => evm.call(call, head, DEFAULT_LIMITS, deadlineAfter(FAR_MS)))
  }
  const source = readChainSource(db)
  const common = await createDefaultCommon(source as { genesis: { config: object } })
  // A call looks at the header alone.
  const block = toPackageBlock({ ...chain.blockByNumber(head)!, transactions: [], uncles: [], withdrawals: [] }, common)
  common.setHardforkBy({ blockNumber: block.header.number, timestamp: block.header.timestamp })
  const vm = await createDefaultVm(common, readHeadState(db), (number) => chain.blockHash(number)!)
  return (call) => runDefaultCall(vm, block, call)
}
