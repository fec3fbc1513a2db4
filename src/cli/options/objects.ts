import { parseEndpoint } from '../../lib/objects/s3Settings.js'
import type { Option } from './option.js'
import { maybeNumber, maybeText } from './rows.js'

/** Options under the heading "Snapshots and object storage". Credentials come only from the environment. */
export const objectsOptions = {
  snapshots: maybeText(
    'snapshots',
    'DIR|s3://BUCKET/PREFIX',
    ['serve'],
    'With --replica or --publish: where snapshots are. A server without a database begins with the newest one; a replica that is behind all that it ' +
      'can read replaces its database by a newer one, and keeps its API keys.',
    'none',
  ),
  keep: maybeNumber('keep', 'N', ['snapshot'], {
    min: 1,
    max: 10_000,
    defaultText: 'all',
    doc: 'create: remove all but the N newest snapshots of the chain afterwards.',
  }),
  s3Endpoint: {
    flag: 's3-endpoint',
    placeholder: 'URL',
    default: undefined as string | undefined,
    defaultText: 'AWS_ENDPOINT_URL, else that of AWS for the region',
    doc: 'Where the buckets of s3:// are: http://HOST:PORT. Credentials are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.',
    commands: ['serve', 'export', 'snapshot'],
    parse: (text: string): string | undefined => parseEndpoint(text),
  },
  s3Region: maybeText(
    's3-region',
    'NAME',
    ['serve', 'export', 'snapshot'],
    'Region that requests to s3:// are signed for.',
    'AWS_REGION, else us-east-1',
  ),
} as const satisfies { [key: string]: Option<unknown> }
