import type { EVM } from '@ethereumjs/evm'
import { MAX_NONCE } from '../../chain/eth/transactionLimits.js'

/** State gas in the package, typed in files that it does not export. */
interface StateGas {
  stateGasReservoir: bigint
  executionStateGasUsed: bigint
}

interface RunState {
  gasLeft: bigint
  /** State gas of the frame that was paid with its gas. */
  stateGasSpilled: bigint
  lastCreateNewAccountStateGas?: bigint
  lastCallNewAccountStateGas?: bigint
  messageGasLimit?: bigint
  stack: { peek(count: number): bigint[] }
  env: { depth: number; contract: { balance: bigint; nonce: bigint } }
}

type Handler<T> = (runState: RunState, ...rest: unknown[]) => Promise<T> | T

/** An instruction: `gasHandler` charges, `opHandler` executes. */
interface Entry {
  opcodeInfo: { isInvalid: boolean }
  opHandler: Handler<void>
  gasHandler: Handler<bigint>
}

const CREATES = [0xf0, 0xf5]
const CALL = 0xf1
const CALLS = [CALL, 0xf2, 0xf4, 0xfa]
const MAX_DEPTH = 1024
const NEW_ACCOUNT_STATE_GAS = 183_600n

/** Corrects faults of @ethereumjs/evm 10.1.3 in Amsterdam, found by the Amsterdam tests and the fuzzer:
 *  - state gas that a call frees does not repay what its caller paid with gas (EIPs#12265, which came later);
 *  - a call that creates an account may pass on gas that was spent for that account;
 *  - a transaction loses its reservoir when a call lacks the gas to create an account;
 *  - a creation that fails for balance, nonce or depth needs the gas for a new account nevertheless. */
export function patchAmsterdam(evm: EVM): void {
  if (!evm.common.isActivatedEIP(8037)) return
  const state = evm as unknown as StateGas
  const { _opcodeMap: map } = evm as unknown as { _opcodeMap: Entry[] }
  for (const code of [...CREATES, ...CALLS]) map[code] = repaying(map[code], state)
  for (const code of CREATES) map[code] = withoutCharge(map[code], state)
  map[CALL] = withGasLeft(map[CALL])
  Object.defineProperty(evm, 'eip7928CallPostTargetOog', { get: () => false, set: () => {} })
}

function repaying(entry: Entry, state: StateGas): Entry {
  return {
    ...entry,
    opHandler: async (runState, ...rest) => {
      await entry.opHandler(runState, ...rest)
      const { stateGasReservoir: reservoir } = state
      const repaid = reservoir < runState.stateGasSpilled ? reservoir : runState.stateGasSpilled
      state.stateGasReservoir -= repaid
      runState.stateGasSpilled -= repaid
      runState.gasLeft += repaid
    },
  }
}

function withGasLeft(entry: Entry): Entry {
  return {
    ...entry,
    gasHandler: async (runState, ...rest) => {
      const gas = await entry.gasHandler(runState, ...rest)
      const left = runState.gasLeft - gas
      const most = left - left / 64n
      const { lastCallNewAccountStateGas = 0n, messageGasLimit = 0n } = runState
      if (lastCallNewAccountStateGas > 0n && messageGasLimit > most) runState.messageGasLimit = most
      return gas
    },
  }
}

function withoutCharge(entry: Entry, state: StateGas): Entry {
  return {
    ...entry,
    gasHandler: async (runState, ...rest) => {
      const { depth, contract } = runState.env
      const [value] = runState.stack.peek(1)
      if (depth < MAX_DEPTH && contract.balance >= value && contract.nonce < MAX_NONCE) {
        return entry.gasHandler(runState, ...rest)
      }
      const { stateGasReservoir, executionStateGasUsed } = state
      state.stateGasReservoir += NEW_ACCOUNT_STATE_GAS
      try {
        return await entry.gasHandler(runState, ...rest)
      } finally {
        state.stateGasReservoir = stateGasReservoir
        state.executionStateGasUsed = executionStateGasUsed
        runState.lastCreateNewAccountStateGas = 0n
      }
    },
  }
}
