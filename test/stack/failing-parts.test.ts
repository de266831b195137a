import { expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, toManifest } from '../cli/workspace.ts';
import { createStackOfText, HOST } from './create-stack.ts';

it('compare rejects with the reason of the signal if it is aborted between the reads and the digests', async () => {
  const { transport } = (await createWorkspace()).recorder;
  const config = { jwt: { signing: { keys: { additional_jkus: ['https://idp.example.com/jwks'] } } } };
  const spec = { policy: { inbound: [{ actions: [{ type: 'jwt-validation', config }] }] } };
  const reason = new Error('the caller has had enough');
  const controller = new AbortController();
  let isApproved = false;
  // The salt of a plan is drawn after its reads, right before the digests of what it hides.
  const random = () => {
    if (isApproved) queueMicrotask(() => controller.abort(reason));
    return 0.5;
  };
  const text = STACK + toManifest('TCPEdge', 'a', spec);
  const { stack } = await createStackOfText(text, { transport, host: { ...HOST, random } });
  const approved = await stack.plan();
  isApproved = true;
  await expect(stack.compare(approved, { signal: controller.signal })).rejects.toBe(reason);
});

it('neither plans nor applies if the question whether a token could get into git fails', async () => {
  const { transport } = (await createWorkspace()).recorder;
  const text = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n${toCredential('agent')}`;
  const plan = await (await createStackOfText(text, { transport })).stack.plan();
  const failure = new Error('git cannot be asked');
  const findTokensInGit = () => Promise.reject(failure);
  const { stack } = await createStackOfText(text, { transport, host: { ...HOST, findTokensInGit } });
  await expect(stack.plan()).rejects.toBe(failure);
  await expect((await stack.prepareApply(plan)).testRescue()).rejects.toBe(failure);
});
