import {
  BASE_FEE,
  BLOB_BASE_FEE,
  CHAIN_ID,
  COINBASE,
  DIFFICULTY,
  GAS_LIMIT,
  GAS_PRICE,
  NUMBER,
  ORIGIN,
  SLOT_NUMBER,
  TIMESTAMP,
} from '../environment.js'
import type { Frame } from '../frame.js'
import { countWork, type Machine } from '../machine.js'
import { copyWord, loadWord, setBytes, setSmall, toIndex, toNumber } from '../words/words.js'
import { READ_WORK } from './accounts.js'
import { free, pushNumber, type Step, type Steps } from './step.js'

const pushEnvironment = (offset: number): Step =>
  free(({ environment, stack }, _, sp) => copyWord(environment.words, offset, stack, sp))

/** What an instruction can read of its call, its transaction and its block. */
export const CONTEXT: Steps = {
  ADDRESS: free(({ stack }, { account }, sp) => copyWord(account.word, 0, stack, sp)),
  ORIGIN: pushEnvironment(ORIGIN),
  CALLER: free(({ stack }, { caller }, sp) => copyWord(caller, 0, stack, sp)),
  CALLVALUE: free(({ stack }, { value }, sp) => copyWord(value, 0, stack, sp)),
  CALLDATALOAD: free(loadCallData),
  CALLDATASIZE: pushNumber((_, { inputLength }) => inputLength),
  CODESIZE: pushNumber((_, { code }) => code.length),
  GASPRICE: pushEnvironment(GAS_PRICE),
  RETURNDATASIZE: pushNumber((_, { returnLength }) => returnLength),
  BLOCKHASH: free(blockHash),
  COINBASE: pushEnvironment(COINBASE),
  TIMESTAMP: pushEnvironment(TIMESTAMP),
  NUMBER: pushEnvironment(NUMBER),
  DIFFICULTY: pushEnvironment(DIFFICULTY),
  GASLIMIT: pushEnvironment(GAS_LIMIT),
  CHAINID: pushEnvironment(CHAIN_ID),
  BASEFEE: pushEnvironment(BASE_FEE),
  BLOBHASH: free(blobHash),
  BLOBBASEFEE: pushEnvironment(BLOB_BASE_FEE),
  SLOTNUM: pushEnvironment(SLOT_NUMBER),
}

function loadCallData({ stack, memory, view }: Machine, frame: Frame, sp: number): void {
  const { inputOffset, inputLength } = frame
  const offset = toIndex(stack, sp - 8)
  if (offset + 32 <= inputLength) {
    loadWord(view, inputOffset + offset, stack, sp - 8)
    return
  }
  if (offset >= inputLength) {
    setSmall(stack, sp - 8, 0)
    return
  }
  const word = new Uint8Array(32)
  word.set(memory.subarray(inputOffset + offset, inputOffset + inputLength))
  setBytes(stack, sp - 8, word, 0, 32)
}

function blockHash(machine: Machine, _frame: Frame, sp: number): void {
  const { stack, environment } = machine
  const { block } = environment
  const number = toNumber(stack, sp - 8)
  if (number >= block.number || number < block.number - 256) {
    setSmall(stack, sp - 8, 0)
    return
  }
  countWork(machine, READ_WORK)
  setBytes(stack, sp - 8, block.blockHash(number), 0, 32)
}

function blobHash({ stack, environment }: Machine, _frame: Frame, sp: number): void {
  const { blobVersionedHashes } = environment.transaction
  const index = toIndex(stack, sp - 8)
  if (index < blobVersionedHashes.length) setBytes(stack, sp - 8, blobVersionedHashes[index], 0, 32)
  else setSmall(stack, sp - 8, 0)
}
