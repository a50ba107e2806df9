import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Claims, principalOf } from '../../lib/http/principal.ts';

const of = (claims: Claims, onBehalfOf?: string) => principalOf(claims, 'admin', onBehalfOf);
const code = (value: string) => ({ code: value });

describe('principal', () => {
  it('is nobody without a subject', () => {
    for (const claims of [undefined, {}, { sub: '' }, { sub: 7 }]) {
      assert.throws(() => principalOf(claims, 'admin'), code('unauthenticated'));
    }
  });

  it('reads groups as the gateway writes them', () => {
    for (const groups of ['[admin]', '[a admin b]', 'admin', ['a', 'admin']]) {
      assert.equal(of({ sub: 's', 'cognito:groups': groups }).isAdmin, true, JSON.stringify(groups));
    }
    for (const groups of ['[administrators]', '[not,admin]', '[]', '', undefined, 1, '[ADMIN]']) {
      assert.equal(of({ sub: 's', 'cognito:groups': groups }).isAdmin, false, JSON.stringify(groups));
    }
    assert.equal(of({ sub: 's', groups: ['admin'] }).isAdmin, true);
  });

  it('reads the group from the configuration, and the admin scope', () => {
    assert.equal(principalOf({ sub: 's', 'cognito:groups': '[ops]' }, 'ops').isAdmin, true);
    assert.equal(principalOf({ sub: 's', 'cognito:groups': '[admin]' }, 'ops').isAdmin, false);
    assert.equal(of({ sub: 's', scope: 'openid compaction/admin' }).isAdmin, true);
    assert.equal(of({ sub: 's', scope: 'compaction/administrator' }).isAdmin, false);
  });

  it('reads teams from either claim', () => {
    for (const claims of [
      { teams: '[red blue]' },
      { teams: ['red', 'blue'] },
      { 'custom:teams': 'red, blue' },
    ]) {
      assert.deepEqual(of({ sub: 's', ...claims }).teams, ['red', 'blue']);
    }
    assert.deepEqual(of({ sub: 's' }).teams, []);
  });

  it('lets a service act for a user, and nobody else', () => {
    const service = { sub: 'svc', scope: 'compaction/service' };
    assert.equal(of(service, 'ann').sub, 'ann');
    assert.equal(of(service).sub, 'svc');
    assert.throws(() => of({ sub: 'bob' }, 'ann'), code('service_only'));
    assert.throws(() => of({ sub: 'bob', 'cognito:groups': '[admin]' }, 'ann'), code('service_only'));
    for (const bad of ['', 'x'.repeat(129)]) assert.throws(() => of(service, bad), code('invalid_request'));
  });

  it('makes nobody an administrator in the name of another', () => {
    const both = { sub: 'svc', scope: 'compaction/service compaction/admin', 'cognito:groups': '[admin]' };
    assert.equal(of(both).isAdmin, true);
    assert.equal(of(both, 'ann').isAdmin, false);
  });
});
