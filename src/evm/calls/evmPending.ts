import { Interruption } from '../../lib/errors.js'
import type { EvmService } from './evmService.js'

/** A method of an EVM service has no outcome yet. Whoever runs the request repeats it with `service`, which has one;
 *  services are synchronous otherwise. */
export class EvmPending extends Interruption {
  readonly service: Promise<EvmService>
  constructor(service: Promise<EvmService>) {
    super('the outcome of the call is not available yet')
    this.service = service
  }
}

/** A service that is not loaded: all methods throw EvmPending, and the first one starts loading. */
export function createUnloadedService(load: () => Promise<EvmService>): EvmService {
  const wait = () => {
    throw new EvmPending(load())
  }
  return {
    call: wait,
    estimateGas: wait,
    blockAccessList: wait,
    executionWitness: wait,
    proveAccount: wait,
    stateRoots: wait,
    createAccessList: wait,
    simulate: wait,
  }
}
