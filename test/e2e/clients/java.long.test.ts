import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { request, startTestServer } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'

const run = promisify(execFile)

const CURL = '/usr/bin/curl'
const JAVA = '/usr/bin/java'

/** Posts its second argument to its first three times and prints the answers; the third is long. */
const PROGRAM = `
import java.net.URI;
import java.net.http.*;

public class Ask {
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (String body : new String[] { args[1], args[1], args[1] + " ".repeat(100000) }) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(args[0]))
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body)).build();
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      System.out.println(response.statusCode() + " " + response.body());
    }
    HttpRequest health = HttpRequest.newBuilder(URI.create(args[0]).resolve("/health")).build();
    System.out.println(HttpClient.newHttpClient().send(health, HttpResponse.BodyHandlers.ofString()).statusCode());
  }
}
`

const CALL = JSON.stringify(request('test_echo', 'hello'))
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"hello"}'

for (const plainHttp of [true, false]) {
  const reader = plainHttp ? 'plain requests read from the socket' : 'all requests read by Node'
  test(`Java's HttpClient, which offers h2c, is answered (${reader})`, {
    skip: !existsSync(JAVA) && `needs ${JAVA}`,
  }, async (t) => {
    const { url } = await startTestServer(t, { plainHttp })
    const program = join(temporaryDirectory(t), 'Ask.java')
    writeFileSync(program, PROGRAM)
    const { stdout } = await run(JAVA, [program, `${url}/v3/`, CALL])
    assert.deepEqual(stdout.trim().split('\n'), [`200 ${ANSWER}`, `200 ${ANSWER}`, `200 ${ANSWER}`, '200'])
  })

  test(`curl --http2, which offers h2c, is answered (${reader})`, {
    skip: !existsSync(CURL) && `needs ${CURL}`,
  }, async (t) => {
    const { url } = await startTestServer(t, { plainHttp })
    for (const body of [CALL, CALL.padEnd(100_000)]) {
      const file = join(temporaryDirectory(t), 'body')
      writeFileSync(file, body)
      const options = ['--silent', '--http2', '--header', 'Content-Type: application/json', '--data', `@${file}`]
      assert.equal((await run(CURL, [...options, url])).stdout, ANSWER)
    }
  })
}
