import { CREATE, CREATE2, SELFDESTRUCT } from '../../chain/eth/callOpcodes.js'
import { keyOfBytes } from '../../lib/bytes.js'
import { MissingState } from '../../store/state/missingState.js'
import { codeBytes } from '../interpreter/code.js'
import type { Frame } from '../interpreter/frame.js'
import type { Hooks, SteppedMachine } from '../interpreter/hooks.js'
import type { Journal } from '../interpreter/journal/journal.js'
import { contractAddress, contractAddress2 } from '../interpreter/newAddress.js'
import { LIMBS, setBytes, toIndex, wordToBytes } from '../interpreter/words/words.js'

/** An account's fields. */
export interface AccountFields {
  readonly exists: boolean
  readonly balance: bigint
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly codeHash: Uint8Array // 32
}

/** An account that an execution may have read or changed, as it was before. */
export interface TouchedState extends AccountFields {
  readonly address: Uint8Array // 20
  /** Slots that were read or written, by `keyOfBytes` of the slot. */
  readonly slots: Map<string, TouchedSlot>
  /** A contract was created here by an instruction. */
  isCreated: boolean
  /** A SELFDESTRUCT deletes it. */
  isDestructed: boolean
}

/** A slot and its value before, 32 bytes each. */
export interface TouchedSlot {
  readonly slot: Uint8Array
  readonly value: Uint8Array
}

/** Records what an execution touches, as geth's prestate tracer does. */
export interface StateRecorder {
  readonly hooks: Hooks
  /** Notes an account before the execution begins. */
  touch(address: Uint8Array): void
  /** Touched accounts by `keyOfBytes` of the address, in order of first touch. */
  readonly touched: ReadonlyMap<string, TouchedState>
}

const SLOAD = 0x54
const SSTORE = 0x55
/** BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH: the account is on top of the stack. */
const ACCOUNT_READS = new Set([0x31, 0x3b, 0x3c, 0x3f, SELFDESTRUCT])
/** CALL, CALLCODE, DELEGATECALL, STATICCALL: the account is below the gas. */
const CALLS = new Map([
  [0xf1, 7],
  [0xf2, 7],
  [0xf4, 6],
  [0xfa, 6],
])

const RECORDED = new Uint8Array(256)
for (const op of [SLOAD, SSTORE, CREATE, CREATE2, ...ACCOUNT_READS, ...CALLS.keys()]) RECORDED[op] = 1

// An account or slot with its key and list entry.
const TOUCHED_BYTES = 500

/** Creates a recorder over the execution's journal, whose meter counts its memory. The hooks throw
 *  CallMemoryExceeded. */
export function recordState(journal: Journal): StateRecorder {
  const touched = new Map<string, TouchedState>()
  /** Undo steps of what the announced instruction has added, for when it cannot start. */
  let added: (() => void)[] = []
  const touch = (address: Uint8Array): TouchedState => {
    const key = keyOfBytes(address)
    let state = touched.get(key)
    if (state === undefined) {
      state = { address, ...fieldsOf(journal, address), slots: new Map(), isCreated: false, isDestructed: false }
      journal.meter.take(TOUCHED_BYTES)
      touched.set(key, state)
      added.push(() => touched.delete(key))
    }
    return state
  }
  const touchSlot = ({ stack }: SteppedMachine, frame: Frame) => {
    const { slots } = touch(frame.account.address)
    const slot = wordToBytes(stack, frame.sp - LIMBS)
    const key = keyOfBytes(slot)
    if (slots.has(key)) return
    journal.meter.take(TOUCHED_BYTES)
    slots.set(key, { slot, value: slotValue(journal, frame.account.address, slot) })
    added.push(() => slots.delete(key))
  }
  const create = (address: Uint8Array) => {
    const state = touch(address)
    if (state.isCreated) return
    state.isCreated = true
    added.push(() => {
      state.isCreated = false
    })
  }
  const destruct = ({ rules }: SteppedMachine, frame: Frame) => {
    const state = touch(frame.account.address)
    if (state.isDestructed || (rules.keepsOldDestructed && !state.isCreated)) return
    state.isDestructed = true
    added.push(() => {
      state.isDestructed = false
    })
  }
  const touchCalled = (machine: SteppedMachine, address: Uint8Array) => {
    touch(address)
    if (!machine.rules.delegations) return
    const { delegation } = journal.code(journal.account(address))
    if (delegation !== undefined) touch(delegation)
  }
  const note = (machine: SteppedMachine, frame: Frame, op: number) => {
    const { stack } = machine
    const { sp } = frame
    const height = (sp - frame.stackBase) / LIMBS
    const addressAt = (position: number) => wordToBytes(stack, sp - position * LIMBS, 20)
    if (op === SLOAD || op === SSTORE) {
      if (height >= 1) touchSlot(machine, frame)
    } else if (ACCOUNT_READS.has(op)) {
      if (height >= 1) touch(addressAt(1))
      if (op === SELFDESTRUCT && height >= 1) destruct(machine, frame)
    } else if (CALLS.has(op)) {
      if (height >= CALLS.get(op)!) touchCalled(machine, addressAt(2))
    } else if (op === CREATE) {
      if (height >= 3) create(contractAddress(frame.account.address, frame.account.nonce))
    } else if (op === CREATE2 && height >= 4) {
      const initCode = memoryAt(machine, frame, toIndex(stack, sp - 2 * LIMBS), toIndex(stack, sp - 3 * LIMBS))
      if (initCode) create(contractAddress2(frame.account.address, wordToBytes(stack, sp - 4 * LIMBS), initCode))
    }
  }
  const hooks: Hooks = {
    opcodes: RECORDED,
    step(machine, frame, op) {
      added = []
      try {
        note(machine, frame, op)
      } catch (error) {
        // Sparse state: an instruction that can start reads the same, and throws it itself.
        if (!(error instanceof MissingState)) throw error
      }
    },
    stepped(_, __, failure) {
      if (failure !== undefined) for (const undo of added) undo()
      added = []
    },
  }
  return { hooks, touch, touched }
}

/** The account's current fields in the journal. */
export function fieldsOf(journal: Journal, address: Uint8Array): AccountFields {
  const account = journal.account(address)
  const { exists, balance, nonce, codeHash } = account
  return { exists, balance, nonce, code: codeBytes(journal.code(account)), codeHash }
}

/** The slot's current value in the journal: 32 bytes. */
export function slotValue(journal: Journal, address: Uint8Array, slot: Uint8Array): Uint8Array {
  const word = new Int32Array(LIMBS)
  setBytes(word, 0, slot, 0, 32)
  journal.readSlot(journal.slot(journal.account(address), word, 0), word, 0)
  return wordToBytes(word, 0)
}

// Init code beyond this costs more gas than any block has.
const MAX_INIT_CODE = 2 ** 24

/** A range of the frame's memory, zeros beyond its end; undefined if it is too large to be paid for. */
function memoryAt({ memory }: SteppedMachine, frame: Frame, offset: number, length: number): Uint8Array | undefined {
  if (length > MAX_INIT_CODE) return undefined
  const out = new Uint8Array(length)
  const { memoryBase, memorySize } = frame
  if (offset < memorySize) {
    out.set(memory.subarray(memoryBase + offset, memoryBase + Math.min(offset + length, memorySize)))
  }
  return out
}
