import { noDeadline } from '../../lib/deadline.js'
import { createChainReader } from '../../store/chain/chainReader.js'
import type { Database } from '../../store/database.js'
import { createStateReader } from '../../store/state/stateReader.js'
import { type BlockReplay, createBlockReplay } from '../calls/blockReplay.js'
import { ZERO_ADDRESS } from '../calls/callChecks.js'
import { clampGas, requireOutput } from '../calls/callContext.js'
import { type GasTrial, searchGasLimit } from '../calls/estimateGas.js'
import type { EvmService } from '../calls/evmService.js'
import { CallRefused } from '../errors.js'
import { createForkTables } from '../interpreter/allPrecompiles.js'
import { loadKzgVerifier } from '../interpreter/precompiles/kzg.js'
import { createReferenceRunner } from './callRunner.js'

/** An EVM service with @ethereumjs/evm over an open database. */
export function createReferenceService(db: Database): EvmService {
  const chain = createChainReader(db)
  const reader = createStateReader(db)
  const runner = createReferenceRunner(chain, reader)
  let replay: BlockReplay | undefined
  return {
    call: async (request, blockNumber, limits, deadline) => {
      const context = runner.at(blockNumber)
      const gasLimit = clampGas(context.header, request.gas, limits)
      const outcome = await context.run(request, { gasLimit, memoryBytes: limits.callMemoryBytes, deadline })
      return requireOutput(outcome, limits)
    },
    estimateGas: async (request, blockNumber, limits, deadline) => {
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
    // The package's lists are those of an older draft.
    blockAccessList: async (blockNumber, deadline) => {
      replay ??= createBlockReplay({ chain, reader, tables: createForkTables(await loadKzgVerifier()) })
      return replay(blockNumber, deadline)
    },
    warm: async () => {
      const head = chain.head()
      if (head === undefined || chain.coverage()?.stateFirst === undefined) return
      await runner
        .at(head)
        .run({ to: ZERO_ADDRESS }, { gasLimit: 100_000n, memoryBytes: 2 ** 20, deadline: noDeadline })
    },
  }
}
