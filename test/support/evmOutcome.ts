import { EvmPending } from '../../src/evm/calls/evmPending.js'
import type { EvmService } from '../../src/evm/calls/evmService.js'

/** Returns what `use` does, repeated when an outcome is pending, as the dispatcher repeats a request. */
export async function evmOutcome<T>(evm: EvmService, use: (evm: EvmService) => T): Promise<T> {
  try {
    return use(evm)
  } catch (error) {
    if (error instanceof EvmPending) return evmOutcome(await error.service, use)
    throw error
  }
}
