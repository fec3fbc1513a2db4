import { noDeadline } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { createStateReader } from '../../store/state/stateReader.js'
import { ZERO_ADDRESS } from '../calls/callChecks.js'
import { clampGas, requireOutput } from '../calls/callContext.js'
import { type GasTrial, searchGasLimit } from '../calls/estimateGas.js'
import type { EvmService } from '../calls/evmService.js'
import { CallRefused } from '../errors.js'
import { createReferenceRunner } from './callRunner.js'

/** Creates an EVM service with @ethereumjs/evm over an open database. Delegates what the package does not support to
 *  `own`, a service with Cairn's interpreter. */
export function createReferenceService(db: Database, own: () => Promise<EvmService>): EvmService {
  const chain = createChainReader(db)
  const reader = createStateReader(db)
  const runner = createReferenceRunner(chain, reader)
  return {
    call: async (request, blockNumber, limits, deadline) => {
      if (request.overrides) return (await own()).call(request, blockNumber, limits, deadline)
      const context = runner.at(blockNumber)
      const gasLimit = clampGas(context.blockGasLimit, request.gas, limits)
      const outcome = await context.run(request, { gasLimit, memoryBytes: limits.callMemoryBytes, deadline })
      return requireOutput(outcome, limits)
    },
    estimateGas: async (request, blockNumber, limits, deadline) => {
      if (request.overrides) return (await own()).estimateGas(request, blockNumber, limits, deadline)
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
    },
    // The package implements an older draft of block access lists.
    blockAccessList: async (...request) => (await own()).blockAccessList(...request),
    executionWitness: async (...request) => (await own()).executionWitness(...request),
    proveAccount: async (...request) => (await own()).proveAccount(...request),
    stateRoots: async (...request) => (await own()).stateRoots(...request),
    createAccessList: async (...request) => (await own()).createAccessList(...request),
    simulate: async (...request) => (await own()).simulate(...request),
    warm: async () => {
      const head = chain.head()
      if (head === undefined || chain.coverage()?.stateFirst === undefined) return
      await runner
        .at(head)
        .run({ to: ZERO_ADDRESS }, { gasLimit: 100_000n, memoryBytes: 2 ** 20, deadline: noDeadline })
    },
  }
}
