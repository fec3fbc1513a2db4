import type { Database } from '../../store/database.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { createStateReader } from '../../store/state/stateReader.js'
import { clampGas, requireOutput } from '../calls/callContext.js'
import { type GasTrial, searchGasLimit } from '../calls/estimateGas.js'
import { EvmPending } from '../calls/evmPending.js'
import type { EvmService } from '../calls/evmService.js'
import { CallRefused } from '../errors.js'
import { createReferenceRunner } from './callRunner.js'

/** Creates an EVM service with @ethereumjs/evm over an open database. The package is asynchronous, so its methods start
 *  a run and throw EvmPending. Delegates what the package does not support to `own`, a service with Cairn's
 *  interpreter. */
export function createReferenceService(db: Database, own: EvmService): EvmService {
  const runner = createReferenceRunner(createChainReader(db), createStateReader(db))
  const call = async (...[request, blockNumber, limits, deadline]: Parameters<EvmService['call']>) => {
    const context = runner.at(blockNumber)
    const gasLimit = clampGas(context.blockGasLimit, request.gas, limits)
    const outcome = await context.run(request, { gasLimit, memoryBytes: limits.callMemoryBytes, deadline })
    return requireOutput(outcome, limits)
  }
  const estimateGas = async (...[request, blockNumber, limits, deadline]: Parameters<EvmService['estimateGas']>) => {
    const context = runner.at(blockNumber)
    const search = searchGasLimit(context, request, limits)
    const memoryBytes = limits.callMemoryBytes
    let step = search.next()
    while (step.done !== true) {
      deadline.check()
      const terms = { gasLimit: step.value, memoryBytes, deadline }
      const tried: GasTrial = await context.run(request, terms).catch((error: unknown) => {
        if (error instanceof CallRefused) return error
        throw error
      })
      step = search.next(tried)
    }
    return step.value
  }
  /** Throws EvmPending for a service that returns or throws what the run does. */
  const wait = (name: 'call' | 'estimateGas', run: Promise<unknown>): never => {
    const done = run.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error
      },
    )
    throw new EvmPending(done.then((outcome) => ({ ...own, [name]: outcome })))
  }
  return {
    ...own, // the package implements an older draft of block access lists
    call: (...args) => (args[0].overrides ? own.call(...args) : wait('call', call(...args))),
    estimateGas: (...args) =>
      args[0].overrides ? own.estimateGas(...args) : wait('estimateGas', estimateGas(...args)),
  }
}
