import { jumpTargets } from './code.js'
import { copyCallData, copyCode, copyExternalCode, copyMemory, copyReturnData } from './copies.js'
import { deepStack } from './deepStack.js'
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
} from './environment.js'
import {
  INVALID_JUMP,
  invalidOpcode,
  OUT_OF_GAS,
  stackFailure,
  WRITE_PROTECTION,
  WRITE_PROTECTION_WHILE_PRICING,
} from './failures.js'
import { CALLING, type Frame, HALTED, REVERTED, SUCCEEDED } from './frame.js'
import { type Machine, payMemory } from './machine.js'
import {
  balanceOf,
  blobHash,
  blockHash,
  destruct,
  exponent,
  externalCodeHash,
  externalCodeSize,
  hashMemory,
  loadCallData,
  loadStorage,
  log,
  selfBalance,
  setOutput,
  storeByte,
  storeStorage,
} from './operations.js'
import { MAX_STACK } from './rules.js'
import { shortageOf } from './shortage.js'
import { PC, SP } from './wasmCore/wasmCore.js'
import { add, isLess, isLessSigned, sub } from './words/addition.js'
import {
  and,
  byteAt,
  countLeadingZeros,
  not,
  or,
  shiftLeft,
  shiftRight,
  shiftRightSigned,
  signExtend,
  xor,
} from './words/bits.js'
import { addModulo, divide, divideSigned, modulo, moduloSigned, multiply, multiplyModulo } from './words/multiply.js'
import {
  copyWord,
  isZeroWord,
  LIMBS,
  loadWord,
  sameWords,
  setBigInt,
  setBytes,
  setNumber,
  setSmall,
  storeWord,
  swapWords,
  toIndex,
} from './words/words.js'

// Gas between two deadline checks: some tens of microseconds of cheap instructions; in the oldest forks, where reading
// an account costs 20 gas, some milliseconds of reads.
const CHECK_GAS = 20_000

/** Runs the frame's instructions until it ends or reaches a call: SUCCEEDED, REVERTED, HALTED or LEFT.
 *
 *  This is one long switch on purpose. Gas, stack height and pc change with nearly every instruction and stay in
 *  registers here; a table of handlers would pass them through memory. Cases are literals, so V8 compiles a jump table.
 *  Frequent instructions are written inline, because V8 does not inline all calls; long or rare ones are in
 *  `operations`, because V8 does not optimize functions of more than 60 KiB of bytecode.
 *  @throws DeadlineExceeded. */
export function runFrame(machine: Machine, frame: Frame): number {
  const { rules, state, stack } = machine
  const { gas: gasOf, need, room } = rules
  const { stackBase, memoryBase } = frame
  const { padded: code, length } = frame.code
  const targets = jumpTargets(frame.code)
  let pc = frame.pc
  let sp = frame.sp
  let gas = frame.gas
  let checkAt = gas - CHECK_GAS
  const { wasmCore } = machine
  const inLoop = wasmCore !== undefined && stack === wasmCore.stack && wasmCore.enter(frame, rules)
  let memorySize = -1

  for (;;) {
    if (wasmCore !== undefined && inLoop) {
      if (frame.memorySize !== memorySize) {
        memorySize = frame.memorySize
        wasmCore.setMemory(frame, machine.memory === wasmCore.memory)
      }
      gas = wasmCore.run(pc, sp, gas, checkAt)
      pc = wasmCore.registers[PC]
      sp = wasmCore.registers[SP]
      if (gas < checkAt) {
        machine.deadline.check()
        checkAt = gas - CHECK_GAS
      }
    }
    const op = code[pc++]
    const height = sp - stackBase
    if (height < need[op] || height > room[op]) {
      return halt(frame, stackFailure(height / LIMBS, need[op] / LIMBS, room[op] / LIMBS))
    }
    gas -= gasOf[op]
    if (gas < 0) return haltConstant(machine, frame, op, sp)

    switch (op) {
      case 0x00: // STOP
        frame.gas = gas
        frame.outputLength = 0
        return SUCCEEDED

      case 0x01: // ADD
        add(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x02: // MUL
        multiply(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x03: // SUB
        sub(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x04: // DIV
        divide(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x05: // SDIV
        divideSigned(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x06: // MOD
        modulo(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x07: // SMOD
        moduloSigned(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x08: // ADDMOD
        addModulo(stack, sp - 8, sp - 16, sp - 24)
        sp -= 16
        continue
      case 0x09: // MULMOD
        multiplyModulo(stack, sp - 8, sp - 16, sp - 24)
        sp -= 16
        continue
      case 0x0a: // EXP
        gas = exponent(machine, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        sp -= 8
        continue
      case 0x0b: // SIGNEXTEND
        signExtend(stack, sp - 8, sp - 16)
        sp -= 8
        continue

      case 0x10: // LT
        setSmall(stack, sp - 16, isLess(stack, sp - 8, sp - 16) ? 1 : 0)
        sp -= 8
        continue
      case 0x11: // GT
        setSmall(stack, sp - 16, isLess(stack, sp - 16, sp - 8) ? 1 : 0)
        sp -= 8
        continue
      case 0x12: // SLT
        setSmall(stack, sp - 16, isLessSigned(stack, sp - 8, sp - 16) ? 1 : 0)
        sp -= 8
        continue
      case 0x13: // SGT
        setSmall(stack, sp - 16, isLessSigned(stack, sp - 16, sp - 8) ? 1 : 0)
        sp -= 8
        continue
      case 0x14: // EQ
        setSmall(stack, sp - 16, sameWords(stack, sp - 8, stack, sp - 16) ? 1 : 0)
        sp -= 8
        continue
      case 0x15: // ISZERO
        setSmall(stack, sp - 8, isZeroWord(stack, sp - 8) ? 1 : 0)
        continue
      case 0x16: // AND
        and(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x17: // OR
        or(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x18: // XOR
        xor(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x19: // NOT
        not(stack, sp - 8)
        continue
      case 0x1a: // BYTE
        byteAt(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x1b: // SHL
        shiftLeft(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x1c: // SHR
        shiftRight(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x1d: // SAR
        shiftRightSigned(stack, sp - 8, sp - 16)
        sp -= 8
        continue
      case 0x1e: // CLZ
        countLeadingZeros(stack, sp - 8)
        continue

      case 0x20: // KECCAK256
        gas = hashMemory(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 8
        continue

      case 0x30: // ADDRESS
        copyWord(frame.account.word, 0, stack, sp)
        sp += 8
        continue
      case 0x31: // BALANCE
        gas = balanceOf(machine, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        continue
      case 0x32: // ORIGIN
        copyWord(machine.environment.words, ORIGIN, stack, sp)
        sp += 8
        continue
      case 0x33: // CALLER
        copyWord(frame.caller, 0, stack, sp)
        sp += 8
        continue
      case 0x34: // CALLVALUE
        copyWord(frame.value, 0, stack, sp)
        sp += 8
        continue
      case 0x35: // CALLDATALOAD
        loadCallData(machine, frame, sp)
        continue
      case 0x36: // CALLDATASIZE
        setNumber(stack, sp, frame.inputLength)
        sp += 8
        continue
      case 0x37: // CALLDATACOPY
        gas = copyCallData(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 24
        continue
      case 0x38: // CODESIZE
        setNumber(stack, sp, length)
        sp += 8
        continue
      case 0x39: // CODECOPY
        gas = copyCode(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 24
        continue
      case 0x3a: // GASPRICE
        copyWord(machine.environment.words, GAS_PRICE, stack, sp)
        sp += 8
        continue
      case 0x3b: // EXTCODESIZE
        gas = externalCodeSize(machine, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        continue
      case 0x3c: // EXTCODECOPY
        gas = copyExternalCode(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 32
        continue
      case 0x3d: // RETURNDATASIZE
        setNumber(stack, sp, frame.returnLength)
        sp += 8
        continue
      case 0x3e: // RETURNDATACOPY
        gas = copyReturnData(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 24
        continue
      case 0x3f: // EXTCODEHASH
        gas = externalCodeHash(machine, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        continue

      case 0x40: // BLOCKHASH
        blockHash(machine, sp)
        continue
      case 0x41: // COINBASE
        copyWord(machine.environment.words, COINBASE, stack, sp)
        sp += 8
        continue
      case 0x42: // TIMESTAMP
        copyWord(machine.environment.words, TIMESTAMP, stack, sp)
        sp += 8
        continue
      case 0x43: // NUMBER
        copyWord(machine.environment.words, NUMBER, stack, sp)
        sp += 8
        continue
      case 0x44: // DIFFICULTY, PREVRANDAO
        copyWord(machine.environment.words, DIFFICULTY, stack, sp)
        sp += 8
        continue
      case 0x45: // GASLIMIT
        copyWord(machine.environment.words, GAS_LIMIT, stack, sp)
        sp += 8
        continue
      case 0x46: // CHAINID
        copyWord(machine.environment.words, CHAIN_ID, stack, sp)
        sp += 8
        continue
      case 0x47: // SELFBALANCE
        selfBalance(machine, frame, sp)
        sp += 8
        continue
      case 0x48: // BASEFEE
        copyWord(machine.environment.words, BASE_FEE, stack, sp)
        sp += 8
        continue
      case 0x49: // BLOBHASH
        blobHash(machine, sp)
        continue
      case 0x4a: // BLOBBASEFEE
        copyWord(machine.environment.words, BLOB_BASE_FEE, stack, sp)
        sp += 8
        continue

      case 0x4b: // SLOTNUM
        copyWord(machine.environment.words, SLOT_NUMBER, stack, sp)
        sp += 8
        continue

      case 0x50: // POP
        sp -= 8
        continue
      case 0x51: {
        // MLOAD
        const offset = toIndex(stack, sp - 8)
        if (offset + 32 > frame.memorySize) {
          gas = payMemory(machine, frame, gas, offset + 32)
          if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        }
        loadWord(machine.view, memoryBase + offset, stack, sp - 8)
        continue
      }
      case 0x52: {
        // MSTORE
        const offset = toIndex(stack, sp - 8)
        if (offset + 32 > frame.memorySize) {
          gas = payMemory(machine, frame, gas, offset + 32)
          if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        }
        storeWord(machine.view, memoryBase + offset, stack, sp - 16)
        sp -= 16
        continue
      }
      case 0x53: // MSTORE8
        gas = storeByte(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 16
        continue
      case 0x54: // SLOAD
        gas = loadStorage(machine, frame, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        continue
      case 0x55: // SSTORE
        if (frame.isStatic) return halt(frame, WRITE_PROTECTION_WHILE_PRICING)
        gas = storeStorage(machine, frame, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        sp -= 16
        continue
      case 0x56: // JUMP
      case 0x57: {
        // JUMPI
        const target = toIndex(stack, sp - 8)
        sp -= 8
        if (op === 0x57) {
          sp -= 8
          if (isZeroWord(stack, sp)) continue
        }
        if (target >= length || ((targets[target >>> 5] >>> (target & 31)) & 1) === 0) return halt(frame, INVALID_JUMP)
        // Executes the JUMPDEST, too; its gas is checked at the next instruction.
        pc = target + 1
        gas -= 1
        if (gas < checkAt) {
          machine.deadline.check()
          checkAt = gas - CHECK_GAS
        }
        continue
      }
      case 0x58: // PC
        setNumber(stack, sp, pc - 1)
        sp += 8
        continue
      case 0x59: // MSIZE
        setNumber(stack, sp, frame.memorySize)
        sp += 8
        continue
      case 0x5a: // GAS
        if (frame.gasBeyond === 0n) setNumber(stack, sp, gas)
        else setBigInt(stack, sp, BigInt(gas) + frame.gasBeyond)
        sp += 8
        continue
      case 0x5b: // JUMPDEST
        continue
      case 0x5c: // TLOAD
        state.readTransient(frame.account, stack, sp - 8, sp - 8)
        continue
      case 0x5d: // TSTORE
        if (frame.isStatic) return halt(frame, WRITE_PROTECTION)
        state.writeTransient(frame.account, stack, sp - 8, sp - 16)
        sp -= 16
        continue
      case 0x5e: // MCOPY
        gas = copyMemory(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= 24
        continue

      case 0x5f: // PUSH0
        setSmall(stack, sp, 0)
        sp += 8
        continue
      case 0x60: // PUSH1
        stack[sp] = code[pc]
        stack[sp + 1] = 0
        stack[sp + 2] = 0
        stack[sp + 3] = 0
        stack[sp + 4] = 0
        stack[sp + 5] = 0
        stack[sp + 6] = 0
        stack[sp + 7] = 0
        pc += 1
        sp += 8
        continue
      case 0x61: {
        // PUSH2
        const value = (code[pc] << 8) | code[pc + 1]
        const next = code[pc + 2]
        pc += 2
        // Compilers emit PUSH2 before a jump: the target skips the stack.
        if (next !== 0x56 && next !== 0x57) {
          setSmall(stack, sp, value)
          sp += 8
          continue
        }
        pc += 1
        gas -= gasOf[next]
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        if (next === 0x57) {
          if (sp === stackBase) return halt(frame, stackFailure(1, 2, MAX_STACK))
          sp -= 8
          if (
            (stack[sp] |
              stack[sp + 1] |
              stack[sp + 2] |
              stack[sp + 3] |
              stack[sp + 4] |
              stack[sp + 5] |
              stack[sp + 6] |
              stack[sp + 7]) ===
            0
          )
            continue
        }
        if (value >= length || ((targets[value >>> 5] >>> (value & 31)) & 1) === 0) return halt(frame, INVALID_JUMP)
        pc = value + 1
        gas -= 1
        if (gas < checkAt) {
          machine.deadline.check()
          checkAt = gas - CHECK_GAS
        }
        continue
      }
      case 0x62: // PUSH3
        setSmall(stack, sp, (code[pc] << 16) | (code[pc + 1] << 8) | code[pc + 2])
        pc += 3
        sp += 8
        continue
      case 0x63: // PUSH4
        setSmall(stack, sp, (code[pc] << 24) | (code[pc + 1] << 16) | (code[pc + 2] << 8) | code[pc + 3])
        pc += 4
        sp += 8
        continue

      case 0xa0: // LOG0 to LOG4
      case 0xa1:
      case 0xa2:
      case 0xa3:
      case 0xa4:
        gas = log(machine, frame, gas, sp, op - 0xa0)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        sp -= (op - 0x9e) * 8
        continue

      case 0xe6: // DUPN, SWAPN, EXCHANGE
      case 0xe7:
      case 0xe8:
        frame.failure = deepStack(op, code[pc], stack, stackBase, sp)
        if (frame.failure !== '') return halt(frame, frame.failure)
        pc += 1
        if (op === 0xe6) sp += 8
        continue

      case 0xf0: // CREATE
      case 0xf1: // CALL
      case 0xf2: // CALLCODE
      case 0xf4: // DELEGATECALL
      case 0xf5: // CREATE2
      case 0xfa: // STATICCALL
        frame.pc = pc
        frame.sp = sp
        frame.gas = gas
        frame.callOpcode = op
        return CALLING

      case 0xf3: // RETURN
      case 0xfd: // REVERT
        gas = setOutput(machine, frame, gas, sp)
        if (gas < 0) return haltUnpaid(machine, frame, op, sp)
        frame.gas = gas
        return op === 0xf3 ? SUCCEEDED : REVERTED
      case 0xff: // SELFDESTRUCT
        if (frame.isStatic) return halt(frame, WRITE_PROTECTION_WHILE_PRICING)
        gas = destruct(machine, frame, gas, sp)
        if (gas < 0) return halt(frame, OUT_OF_GAS)
        frame.gas = gas
        frame.outputLength = 0
        return SUCCEEDED

      case 0x80: // DUP1 to DUP16
      case 0x81:
      case 0x82:
      case 0x83:
      case 0x84:
      case 0x85:
      case 0x86:
      case 0x87:
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:
      case 0x8c:
      case 0x8d:
      case 0x8e:
      case 0x8f: {
        const from = sp - (op - 0x7f) * 8
        stack[sp] = stack[from]
        stack[sp + 1] = stack[from + 1]
        stack[sp + 2] = stack[from + 2]
        stack[sp + 3] = stack[from + 3]
        stack[sp + 4] = stack[from + 4]
        stack[sp + 5] = stack[from + 5]
        stack[sp + 6] = stack[from + 6]
        stack[sp + 7] = stack[from + 7]
        sp += 8
        continue
      }
      case 0x90: // SWAP1 to SWAP16
      case 0x91:
      case 0x92:
      case 0x93:
      case 0x94:
      case 0x95:
      case 0x96:
      case 0x97:
      case 0x98:
      case 0x99:
      case 0x9a:
      case 0x9b:
      case 0x9c:
      case 0x9d:
      case 0x9e:
      case 0x9f:
        swapWords(stack, sp - 8, sp - (op - 0x8e) * 8)
        continue

      default: {
        // PUSH5 to PUSH32
        const size = op - 0x5f
        setBytes(stack, sp, code, pc, size)
        pc += size
        sp += 8
      }
    }
  }
}

/** Halts the frame because the fork does not have the instruction, or because its constant gas could not be paid. */
function haltConstant(machine: Machine, frame: Frame, op: number, sp: number): number {
  const { gas, shownGas } = machine.rules
  if (gas[op] === Infinity) return halt(frame, invalidOpcode(op))
  return shownGas[op] === 0 ? haltUnpaid(machine, frame, op, sp) : halt(frame, OUT_OF_GAS)
}

/** Halts the frame because the instruction could not be paid for, unless an operation has set another failure. */
function haltUnpaid(machine: Machine, frame: Frame, op: number, sp: number): number {
  if (frame.failure === '') frame.failure = shortageOf(machine, frame, op, sp).failure
  return halt(frame, frame.failure)
}

/** Halts the frame with that failure, unless an operation has set one. */
export function halt(frame: Frame, failure: string): number {
  if (frame.failure === '') frame.failure = failure
  frame.outputLength = 0
  return HALTED
}
