import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSources, readContracts } from '../support/chains/solidityContracts.js'

test('the committed contracts are of the Solidity sources beside them', () => {
  assert.equal(readContracts().sourcesSha256, hashSources(), "run 'npm run compile:solidity'")
})
