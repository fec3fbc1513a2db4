import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOfAddress } from '../../../src/server/access/addresses.js'

test('an IPv4 address is a client, in whichever form it comes', () => {
  assert.equal(clientOfAddress('1.2.3.4'), '1.2.3.4')
  assert.equal(clientOfAddress('::ffff:1.2.3.4'), '1.2.3.4')
})

test('the addresses of an IPv6 network are one client', () => {
  assert.equal(clientOfAddress('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(clientOfAddress('2001:db8:1:2::9'), '2001:db8:1:2::/64')
  assert.equal(clientOfAddress('2001:db8::9'), '2001:db8:0:0::/64')
  assert.equal(clientOfAddress('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(clientOfAddress('::1'), '0:0:0:0::/64')
})
