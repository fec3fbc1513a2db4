import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../../../src/lib/errors.js'
import { parseS3Place } from '../../../src/lib/objects/openObjectStore.js'
import { readS3Settings } from '../../../src/lib/objects/s3Settings.js'
import { parseErrorCode, parseListing } from '../../../src/lib/objects/s3Xml.js'

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI' }

test('options go before the environment, the environment before defaults', () => {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' }
  assert.deepEqual(readS3Settings({}, KEYS), {
    ...{ endpoint: 'https://s3.us-east-1.amazonaws.com', region: 'us-east-1', credentials },
  })
  const env = { ...KEYS, AWS_REGION: 'eu-1', AWS_ENDPOINT_URL: 'http://ceph:7480/', AWS_SESSION_TOKEN: 't' }
  assert.deepEqual(readS3Settings({}, env), {
    ...{ endpoint: 'http://ceph:7480', region: 'eu-1', credentials: { ...credentials, sessionToken: 't' } },
  })
  const options = { endpoint: 'https://other', region: 'x' }
  assert.deepEqual(readS3Settings(options, env).endpoint, 'https://other')
  assert.deepEqual(readS3Settings(options, env).region, 'x')
})

test('what is missing or wrong is named, never with a credential', () => {
  const wrong: [Parameters<typeof readS3Settings>, RegExp][] = [
    [[{}, {}], /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
    [[{ endpoint: 'ceph:7480' }, KEYS], /--s3-endpoint: expected http/],
    [[{ endpoint: 'http://user:wJalrXUtnFEMI@ceph' }, KEYS], /--s3-endpoint: expected http/],
    [[{ endpoint: 'http://ceph/bucket' }, KEYS], /--s3-endpoint: expected http/],
    [[{ region: 'EU 1' }, KEYS], /--s3-region: expected a name/],
  ]
  for (const [args, message] of wrong) {
    assert.throws(
      () => readS3Settings(...args),
      (error: Error) => {
        assert.ok(error instanceof UsageError)
        assert.match(error.message, message)
        assert.equal(/wJalrXUtnFEMI|AKIDEXAMPLE/.test(error.message), false)
        return true
      },
    )
  }
})

test('a place is a bucket and a prefix', () => {
  assert.deepEqual(parseS3Place('s3://bucket'), { bucket: 'bucket', prefix: '' })
  assert.deepEqual(parseS3Place('s3://bucket/'), { bucket: 'bucket', prefix: '' })
  assert.deepEqual(parseS3Place('s3://my.bucket-1/a/b_c/'), { bucket: 'my.bucket-1', prefix: 'a/b_c' })
  for (const place of [
    's3://',
    's3://B',
    's3:///x',
    's3://bucket/a//b',
    's3://bucket/../x',
    's3://bucket/a b',
    's3://b',
  ]) {
    assert.throws(() => parseS3Place(place), UsageError, place)
  }
})

test('listings and errors of S3 are read', () => {
  const listing = parseListing(`<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>
    <NextContinuationToken>a&amp;b&#x2F;c&#47;d</NextContinuationToken>
    <Contents><Key>a%2Fb+c</Key><Size>12</Size><Owner><ID>x</ID></Owner></Contents>
    <Contents><Size>0</Size><Key>d</Key></Contents></ListBucketResult>`)
  assert.deepEqual(listing, {
    objects: [
      { key: 'a/b c', bytes: 12 },
      { key: 'd', bytes: 0 },
    ],
    next: 'a&b/c/d',
  })
  assert.equal(parseListing('<ListBucketResult/>').next, undefined)
  assert.equal(parseErrorCode('<Error><Code>NoSuchKey</Code><AWSAccessKeyId>A</AWSAccessKeyId></Error>'), 'NoSuchKey')
  assert.equal(parseErrorCode('<html>Bad gateway</html>'), undefined)
  assert.equal(parseErrorCode('<Code>not a code: <b></Code>'), undefined)
})
