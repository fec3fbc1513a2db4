import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL_FORKS } from '../../../../src/chain/eth/forks/all.js'
import type { Rules } from '../../../../src/chain/eth/forks/rules.js'
import { STEP_TABLE } from '../../../../src/evm/interpreter/opcodes/table.js'
import { createPrecompileTable, NO_CURVES } from '../../../../src/evm/interpreter/precompiles/precompileTable.js'

const CALLS = ['CREATE', 'CALL', 'CALLCODE', 'DELEGATECALL', 'CREATE2', 'STATICCALL']

test('every instruction that a fork declares has code', () => {
  const without = ALL_FORKS.instructions.filter(([opcode]) => STEP_TABLE[opcode] === undefined)
  assert.deepEqual([...new Set(without.map(([, mnemonic]) => mnemonic))].sort(), CALLS.toSorted())
})

test('every precompile that a fork declares has code', () => {
  const table = createPrecompileTable(ALL_FORKS as Rules, NO_CURVES)
  assert.deepEqual(
    ALL_FORKS.precompiles.filter(([address]) => table[address] === undefined),
    [],
  )
})
