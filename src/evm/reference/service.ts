import { noDeadline } from '../../lib/deadline.js'
import { createChainReader } from '../../store/chainReader.js'
import type { Database } from '../../store/open.js'
import { createStateReader } from '../../store/stateReader.js'
import { ZERO_ADDRESS } from '../callChecks.js'
import { clampGas, requireOutput } from '../callSite.js'
import { CallFailed } from '../errors.js'
import { searchGas, type Tried } from '../estimateGas.js'
import type { EvmService } from '../service.js'
import { createReferenceRunner } from './call.js'

/** An EVM service by @ethereumjs/evm over an open database. */
export function createReferenceService(db: Database): EvmService {
  const chain = createChainReader(db)
  const runner = createReferenceRunner(chain, createStateReader(db))
  return {
    call: async (request, blockNumber, gasCapPercent, deadline) => {
      const site = runner.at(blockNumber)
      return requireOutput(await site.run(request, clampGas(site.header, request.gas, gasCapPercent), deadline))
    },
    estimateGas: async (request, blockNumber, gasCapPercent, deadline) => {
      const site = runner.at(blockNumber)
      const search = searchGas(site, request, gasCapPercent)
      let step = search.next()
      for (let first = true; step.done !== true; first = false) {
        deadline.check()
        let tried: Tried
        try {
          tried = await site.run(request, step.value, deadline)
        } catch (error) {
          if (first || !(error instanceof CallFailed)) throw error
        }
        step = search.next(tried)
      }
      return step.value
    },
    warm: async () => {
      const head = chain.head()
      if (head === undefined || chain.coverage()?.stateFirst === undefined) return
      await runner.at(head).run({ to: ZERO_ADDRESS }, 100_000n, noDeadline)
    },
  }
}
