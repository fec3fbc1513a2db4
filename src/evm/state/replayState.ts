import type { Rules } from '../../chain/eth/forks/rules.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import { MissingState } from '../../store/state/missingState.js'
import type { StateProvider } from './stateProvider.js'

/** Returns the state before a stored block, to execute the block again. With sparse state, a block whose state comes
 *  from its access list was not executed, and the slots that its first system calls write need not be known before it
 *  (EIP-2935, EIP-4788). They are read as zero: nothing reads them before they are written, and the gas of system
 *  calls, which the value decides, is not counted. */
export function createReplayState(
  parent: StateProvider,
  { blockNumber, rules }: { blockNumber: number; rules: Rules },
): StateProvider {
  const isWritten = ({ address, slot, changedAt }: MissingState) =>
    slot !== undefined &&
    changedAt === blockNumber &&
    rules.systemCalls.some((call) => equalBytes(call.address, address))
  return {
    ...parent,
    storage: (address, slot) => {
      try {
        return parent.storage(address, slot)
      } catch (error) {
        if (error instanceof MissingState && isWritten(error)) return EMPTY_BYTES
        throw error
      }
    },
  }
}
