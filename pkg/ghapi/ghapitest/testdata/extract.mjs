// Writes openapi.json: the shapes of the endpoints that the tools use, out of GitHub's published description.
// Run it in an empty folder, and again after adding an endpoint to the list:
//
//   npm install --ignore-scripts @octokit/openapi@23.0.2
//   node extract.mjs node_modules/@octokit/openapi/generated/api.github.com.json > openapi.json
//
// Kept are paths, parameters, bodies and answers as JSON Schema 2020-12; texts and examples are left out.
import { readFileSync } from 'node:fs'

const endpoints = [
  'GET /repos/{owner}/{repo}',
  'GET /repos/{owner}/{repo}/actions/runners',
  'GET /orgs/{org}/actions/runners',
  'GET /orgs/{org}/actions/runner-groups',
  'GET /orgs/{org}/actions/runner-groups/{runner_group_id}/runners',
  'GET /repos/{owner}/{repo}/actions/runs',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts',
  'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
  'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}',
  'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs',
  'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches',
  'GET /repos/{owner}/{repo}/git/commits/{commit_sha}',
  'POST /repos/{owner}/{repo}/git/commits',
  'POST /repos/{owner}/{repo}/git/refs',
  'POST /repos/{owner}/{repo}/git/trees',
  'GET /repos/{owner}/{repo}/issues',
  'POST /repos/{owner}/{repo}/issues',
  'GET /repos/{owner}/{repo}/issues/{issue_number}',
  'PATCH /repos/{owner}/{repo}/issues/{issue_number}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'GET /repos/{owner}/{repo}/pulls',
  'POST /repos/{owner}/{repo}/pulls',
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
]

const text = readFileSync(process.argv[2], 'utf8')
const description = JSON.parse(text)
const schemas = {}

const dropped = new Set(['description', 'example', 'examples', 'title', 'externalDocs', 'deprecated', 'default', 'x-github'])

function shape(node, isNames = false) {
  if (Array.isArray(node)) return node.map((n) => shape(n))
  if (node === null || typeof node !== 'object') return node
  if (node.$ref) {
    const name = node.$ref.split('/').pop()
    if (!(name in schemas)) {
      schemas[name] = null
      schemas[name] = shape(description.components.schemas[name])
    }
    return { $ref: '#/$defs/' + name }
  }
  const out = {}
  for (const [key, value] of Object.entries(node)) {
    if (!isNames && (dropped.has(key) || key.startsWith('x-') || key === 'nullable')) continue
    out[key] = shape(value, key === 'properties' && !isNames)
  }
  if (!isNames && node.nullable) return { anyOf: [{ type: 'null' }, out] }
  return out
}

const find = (node) => (node.$ref ? node.$ref.slice(2).split('/').reduce((at, key) => at[key], description) : node)
const body = (node) => {
  const media = node && find(node).content?.['application/json']
  return media ? shape(media.schema) : null
}

const out = { from: '@octokit/openapi@23.0.2', endpoints: {} }
for (const name of endpoints) {
  const [method, path] = name.split(' ')
  const at = description.paths[path]
  const operation = at?.[method.toLowerCase()]
  if (!operation) throw new Error('no endpoint ' + name)
  const parameters = [...(at.parameters ?? []), ...(operation.parameters ?? [])].map(find)
  const endpoint = { path: {}, query: {}, request: body(operation.requestBody), responses: {} }
  for (const p of parameters) if (p.in in endpoint) endpoint[p.in][p.name] = shape(p.schema)
  for (const [status, answer] of Object.entries(operation.responses)) endpoint.responses[status] = body(answer)
  out.endpoints[name] = endpoint
}
out.$defs = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
console.log(JSON.stringify(out, null, 1))
