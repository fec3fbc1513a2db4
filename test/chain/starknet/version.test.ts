import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashRulesOf } from '../../../src/chain/starknet/version.js'

test('every version has the rules of its time', () => {
  const expected = {
    '': 'pedersen',
    '0.9.1': 'pedersen',
    '0.11.0': 'pedersen',
    '0.11.0.2': 'pedersen',
    '0.11.1': 'pedersen-signatures',
    '0.12.3': 'pedersen-signatures',
    '0.13.1.1': 'pedersen-signatures',
    '0.13.2': 'poseidon-0',
    '0.13.2.1': 'poseidon-0',
    '0.13.3': 'poseidon-0',
    '0.13.4': 'poseidon-1',
    '0.14.1': 'poseidon-1',
    '1.0': 'poseidon-1',
  }
  for (const [version, rules] of Object.entries(expected)) assert.equal(hashRulesOf(version), rules, version)
})

test('text that is no version has no rules', () => {
  for (const text of ['0', 'v0.13.2', '0.13.x', '0.13.2-rc1', '0.13.2.1.1']) assert.equal(hashRulesOf(text), undefined)
})
