import { UsageError } from '../errors.js'

/** Endpoint and credentials of S3. */
export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:7480`: origin without a path. */
  readonly endpoint: string
  readonly region: string
  readonly credentials: S3Credentials
  /** Attempts of a request, and the longest first pause between two in milliseconds. Default: 6 and 200. */
  readonly attempts?: number
  readonly firstPauseMs?: number
  /** Time without progress after which an attempt counts as lost, in milliseconds. Default: 30,000. */
  readonly idleMs?: number
}

/** Credentials that sign requests. Never shown. */
interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Options that override the environment. */
export interface S3Options {
  readonly endpoint?: string
  readonly region?: string
}

/** The settings from options and from AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 *  AWS_SESSION_TOKEN. @throws UsageError when one is missing or wrong; it never shows a credential */
export function readS3Settings(options: S3Options, env: NodeJS.ProcessEnv): S3Settings {
  const region = options.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1')
  if (!/^[a-z0-9-]{1,64}$/.test(region)) {
    throw new UsageError(
      `--s3-region: expected a name such as eu-central-1, got ${JSON.stringify(region.slice(0, 64))}`,
    )
  }
  const endpoint =
    options.endpoint ?? (env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || `https://s3.${region}.amazonaws.com`)
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env
  if (!accessKeyId || !secretAccessKey) {
    throw new UsageError('s3:// needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  const credentials = { accessKeyId, secretAccessKey, ...(token && { sessionToken: token }) }
  return { endpoint: parseEndpoint(endpoint), region, credentials }
}

/** The origin of an endpoint. @throws UsageError unless it is http(s)://HOST[:PORT] */
export function parseEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url !== undefined && ['', '/'].includes(url.pathname) && url.search === '' && url.hash === ''
  if (isOrigin && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.origin
  throw new UsageError('--s3-endpoint: expected http://HOST:PORT or https://HOST, without user, path or query')
}
