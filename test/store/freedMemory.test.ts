import assert from 'node:assert/strict'
import { test } from 'node:test'
import { returnFreedMemory } from '../../src/store/freedMemory.js'
import { freeMostOfMany, ownMemoryMb, WITHOUT_GLIBC } from '../support/freedMemory.js'

test('freed memory between what is in use goes back to the system, and nothing else is lost', {
  skip: WITHOUT_GLIBC,
}, async () => {
  const kept = await freeMostOfMany()
  const before = ownMemoryMb()
  assert.equal(returnFreedMemory(), true)
  const after = ownMemoryMb()
  assert.ok(after < before - 150, `${before} MB before, ${after} after`)
  assert.ok(kept.every((each) => each.every((byte) => byte === 1)))
})
