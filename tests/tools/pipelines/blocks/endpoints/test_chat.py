"""Chat completions over real connections, and everything an API can do wrong with them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.openai_server import KEY, Fault, OpenAiServer
from tests.processes import wait_until
from tools.conf import Endpoint
from tools.context import tokens
from tools.pipelines.blocks.endpoints.chat import Completion, complete
from tools.pipelines.blocks.endpoints.client import Api, nothing
from tools.pipelines.blocks.endpoints.faults import (
    EndpointClosed,
    EndpointDown,
    EndpointFault,
    EndpointRefused,
    EndpointTimeout,
)
from tools.pipelines.contracts import QueryCancelled, Usage

QUESTION = [{"role": "user", "content": "Who is Rush?"}]


def ask(api: Api, **changes: Any) -> Completion:
    """A question that has the time and the tokens it needs."""
    given = {"max_tokens": 100, "timeout": 20.0, **changes}
    return complete(api, given.pop("model", "test-model"), QUESTION, **given)


def test_streamed_answer_is_put_together_with_the_apis_own_account(
    api: Api, server: OpenAiServer
) -> None:
    server.text = ["Zwölf ", "Ж", "ελ", "漢字 [1]", "."]
    assert ask(api) == Completion("Zwölf Жελ漢字 [1].", Usage(70, 9))
    path, sent = server.requests[0]
    assert path == "/v1/chat/completions"
    assert sent == {
        "model": "test-model",
        "messages": QUESTION,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.1,
        "max_tokens": 100,
    }
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_tokens_are_counted_when_the_api_does_not_tell(api: Api, server: OpenAiServer) -> None:
    server.usage = None
    answer = ask(api)
    assert answer.usage == Usage(tokens.count("Who is Rush?"), tokens.count(answer.text))
    assert answer.usage.total > 5


@pytest.mark.parametrize(
    "usage",
    [{"prompt_tokens": -1, "completion_tokens": 3}, {"prompt_tokens": "many"}, {"total_tokens": 3}],
)
def test_account_that_makes_no_sense_is_not_believed(
    api: Api, server: OpenAiServer, usage: Any
) -> None:
    server.usage = usage
    assert ask(api).usage == Usage(tokens.count("Who is Rush?"), tokens.count("".join(server.text)))


def test_api_that_does_not_stream_is_understood(api: Api, server: OpenAiServer) -> None:
    server.streams = False
    assert ask(api) == Completion("".join(server.text), Usage(70, 9))


def test_key_is_not_sent_when_there_is_none(server: OpenAiServer) -> None:
    ask(Api("llm_api", "The language model", Endpoint(server.url)))
    assert "authorization" not in server.headers[0]


def test_stream_beyond_the_limit_is_cut_and_the_api_hears_of_it(
    api: Api, server: OpenAiServer
) -> None:
    server.text = ["word "] * 200_000
    answer = ask(api, max_tokens=20)
    assert answer.truncated
    assert tokens.count(answer.text) == 20
    assert answer.usage.completion_tokens == 20
    assert server.hung_up.wait(20)
    assert server.sent_events < 200_000


def test_whole_answer_beyond_the_limit_is_cut(api: Api, server: OpenAiServer) -> None:
    server.streams = False
    server.text = ["漢字かな交じり文 " * 50]
    answer = ask(api, max_tokens=10)
    assert answer.truncated
    assert 0 < tokens.count(answer.text) <= 10
    assert server.text[0].startswith(answer.text)


def test_answer_of_exactly_the_limit_is_whole(api: Api, server: OpenAiServer) -> None:
    server.text = ["word"] + [" word"] * 19
    assert not ask(api, max_tokens=20).truncated


def test_model_that_ran_out_of_tokens_is_told(api: Api, server: OpenAiServer) -> None:
    server.finish_reason = "length"
    assert ask(api).truncated


def test_connection_is_kept_for_the_next_question(api: Api, server: OpenAiServer) -> None:
    for _ in range(3):
        ask(api)
    assert server.connections == 1


def test_question_is_asked_again_when_a_kept_connection_was_closed(
    api: Api, server: OpenAiServer
) -> None:
    ask(api)
    server.behave(Fault(drop=True))
    assert ask(api).text == "".join(server.text)
    assert (len(server.requests), server.connections) == (3, 2)


def test_child_process_has_connections_of_its_own(server: OpenAiServer) -> None:
    program = f"""
import os
from tools.conf import Endpoint
from tools.pipelines.blocks.endpoints.chat import complete
from tools.pipelines.blocks.endpoints.client import Api
api = Api("llm_api", "The language model", Endpoint({server.url!r}))
ask = lambda: complete(api, "m", [{{"role": "user", "content": "?"}}], max_tokens=50, timeout=20)
ask()
child = os.fork()
if not child:
    ask()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
ask()
"""
    subprocess.run([sys.executable, "-c", program], env=dict(os.environ), check=True, timeout=60)
    assert (len(server.requests), server.connections) == (3, 2)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(status=500), "The language model answered with status 500"),
        (Fault(status=503), "The language model answered with status 503"),
        (Fault(status=429), "The language model answered with status 429"),
        (Fault(status=408), "The language model answered with status 408"),
        (Fault(drop=True), "The language model broke off its answer"),
        (Fault(cut=0), "The language model broke off its answer"),
        (Fault(cut=3), "The language model broke off its answer"),
        (Fault(garbage=b"<html>"), "The language model gave an answer that cannot be used"),
        (Fault(garbage=b"[1]"), "The language model gave an answer that cannot be used"),
        (Fault(cut=2, garbage=b"{"), "The language model gave an answer that cannot be used"),
        (Fault(cut=2, garbage=b"7"), "The language model gave an answer that cannot be used"),
        (
            Fault(cut=2, garbage=b'{"choices": ["x"]}'),
            "The language model gave an answer that cannot be used",
        ),
        (
            Fault(cut=2, garbage=b'{"error": {"message": "overloaded"}}'),
            "The language model gave an answer that cannot be used",
        ),
        (
            Fault(cut=2, garbage=b"x" * (2 << 20)),
            "The language model gave an answer that cannot be used",
        ),
    ],
    ids=repr,
)
def test_fault_of_the_api_is_told_and_nothing_is_repeated(
    api: Api, server: OpenAiServer, fault: Fault, told: str
) -> None:
    server.behave(fault)
    with pytest.raises(EndpointDown) as caught:
        ask(api)
    assert str(caught.value) == told
    assert caught.value.counts
    assert len(server.requests) == 1
    # The next one goes well.
    assert ask(api).text


def test_stream_without_an_end_is_no_answer(api: Api, server: OpenAiServer) -> None:
    server.finish_reason, server.ends_with_done = "", False
    with pytest.raises(EndpointDown, match="broke off"):
        ask(api)
    server.ends_with_done = True
    assert ask(api).text == "".join(server.text)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
def test_fault_of_configuration_is_told_plainly(
    api: Api, server: OpenAiServer, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.behave(Fault(status=status, error={"message": "The model `x` does not exist"}))
    with pytest.raises(EndpointRefused) as caught:
        ask(api)
    assert str(caught.value) == (
        f"The language model refused the request with status {status}; "
        "its configuration should be checked"
    )
    assert not caught.value.counts
    # The operator reads why.
    assert "The model `x` does not exist" in caplog.text


@pytest.mark.parametrize("parameter", ["max_tokens", "temperature", "stream_options"])
def test_parameter_that_a_model_does_not_take_is_left_out(
    api: Api, server: OpenAiServer, parameter: str
) -> None:
    refusal = {"message": f"Unsupported parameter: '{parameter}'", "param": parameter}
    server.behave(Fault(status=400, error=refusal))
    assert ask(api, model=parameter).text == "".join(server.text)
    assert parameter not in server.requests[1][1]
    limits = {"max_tokens", "max_completion_tokens"} & set(server.requests[1][1])
    assert [server.requests[1][1][name] for name in limits] == [100]
    # It is remembered.
    ask(api, model=parameter)
    assert len(server.requests) == 3


def test_parameter_refused_for_good_is_not_tried_for_ever(api: Api, server: OpenAiServer) -> None:
    server.always = Fault(status=400, error={"message": "temperature is wrong"})
    with pytest.raises(EndpointRefused):
        ask(api, model="stubborn")
    assert len(server.requests) == 2


def test_api_that_is_not_there_cannot_be_reached(api: Api, server: OpenAiServer) -> None:
    server.stop()
    with pytest.raises(EndpointDown, match="cannot be reached"):
        ask(api)


@pytest.mark.parametrize("fault", [Fault(hang=True), Fault(pause=0.15)], ids=["silent", "slow"])
def test_whole_answer_has_one_time_limit(api: Api, server: OpenAiServer, fault: Fault) -> None:
    server.text = ["word "] * 1000
    server.behave(fault)
    with pytest.raises(EndpointTimeout, match="did not answer in time"):
        ask(api, timeout=0.6)
    assert server.hung_up.wait(20)


def test_short_wait_says_nothing_about_the_api() -> None:
    assert not EndpointTimeout("The language model", 1.0).counts
    assert EndpointTimeout("The language model", 30.0).counts


@pytest.mark.parametrize("fault", [Fault(hang=True), Fault(pause=0.15)], ids=["silent", "writing"])
def test_cancelled_question_ends_at_the_api_too(
    api: Api, server: OpenAiServer, fault: Fault
) -> None:
    server.text = ["word "] * 1000
    server.behave(fault)

    def tick() -> None:
        raise QueryCancelled

    with pytest.raises(QueryCancelled):
        ask(api, tick=tick, timeout=60.0)
    assert server.hung_up.wait(20)
    assert server.sent_events < 1000


def test_watcher_is_called_while_the_model_writes(api: Api, server: OpenAiServer) -> None:
    server.text = ["word "] * 10
    server.behave(Fault(pause=0.15))
    calls: list[int] = []
    ask(api, tick=lambda: calls.append(server.sent_events))
    assert calls
    assert calls[0] < 10


def test_answer_larger_than_any_is_refused(api: Api, server: OpenAiServer) -> None:
    server.behave(Fault(garbage=b'"' + b"x" * (65 << 20) + b'"'))
    with pytest.raises(EndpointDown):
        ask(api)


def test_nothing_tells_the_key(
    api: Api, server: OpenAiServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    masked = f"{KEY[:6]}********{KEY[-4:]}"
    said = [f"Incorrect API key provided: {KEY}", f"Incorrect API key provided: {masked}."]
    server.behave(*(Fault(status=401, error={"message": text}) for text in said))
    server.behave(Fault(status=500, error={"message": f"Bearer {KEY}"}), Fault(cut=2), None)
    faults = []
    for _ in range(4):
        try:
            ask(api)
        except EndpointFault as fault:
            faults.append(repr(fault) + str(fault) + repr(fault.__cause__) + repr(vars(fault)))
    assert len(faults) == 4
    shown = caplog.text + "".join(faults) + repr(api)
    assert "llm_api answered with status 401" in shown
    assert KEY not in shown
    assert masked not in shown


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_key_that_cannot_be_sent_is_a_fault_of_configuration(
    server: OpenAiServer, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(EndpointRefused, match="has a key that cannot be sent"):
        ask(Api("llm_api", "The language model", Endpoint(server.url, key)))
    assert server.requests == []
    assert key not in caplog.text


def test_questions_of_several_threads_do_not_mix(api: Api, server: OpenAiServer) -> None:
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(ask(api).text), daemon=True)
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == ["".join(server.text)] * 8


def test_threads_of_ended_questions_end(api: Api, server: OpenAiServer) -> None:
    server.behave(*[Fault(hang=True)] * 3)
    for _ in range(3):
        with pytest.raises(EndpointTimeout):
            ask(api, timeout=0.2)
    wait_until(
        lambda: not any(thread.name == "model-api" for thread in threading.enumerate()),
        what="the end of all threads",
    )


def test_breaker_opens_after_three_failures_and_closes_after_the_probe(
    api: Api, server: OpenAiServer, clock: Any
) -> None:
    server.always = Fault(status=503)
    for _ in range(3):
        with pytest.raises(EndpointDown):
            ask(api)
    with pytest.raises(EndpointClosed) as closed:
        ask(api)
    assert closed.value.retry_after == 60
    assert len(server.requests) == 3
    clock.now += 59.9
    with pytest.raises(EndpointClosed):
        ask(api)
    clock.now += 0.1
    with pytest.raises(EndpointDown):
        ask(api)
    with pytest.raises(EndpointClosed):
        ask(api)
    assert len(server.requests) == 4
    clock.now += 60
    server.always = None
    assert ask(api).text
    server.behave(Fault(status=503), Fault(status=503), None)
    for _ in range(2):
        with pytest.raises(EndpointDown):
            ask(api)
    assert ask(api).text


def test_refusals_and_cancelled_questions_do_not_open_the_breaker(
    api: Api, server: OpenAiServer
) -> None:
    server.behave(*[Fault(status=401)] * 5, *[Fault(hang=True)] * 3)

    def cancel() -> None:
        raise QueryCancelled

    for _ in range(5):
        with pytest.raises(EndpointRefused):
            ask(api)
    for tick, timeout in ((cancel, 20.0), (cancel, 20.0), (nothing, 0.1)):
        with pytest.raises((QueryCancelled, EndpointTimeout)):
            ask(api, tick=tick, timeout=timeout)
    assert ask(api).text


def test_answer_cut_at_its_limit_closes_the_breaker(
    api: Api, server: OpenAiServer, clock: Any
) -> None:
    server.behave(*[Fault(status=500)] * 3)
    for _ in range(3):
        with pytest.raises(EndpointDown):
            ask(api)
    clock.now += 60
    server.text = ["word "] * 1000
    assert ask(api, max_tokens=5).truncated
    assert ask(api, max_tokens=5).truncated


def test_half_a_character_is_not_passed_on(api: Api, server: OpenAiServer) -> None:
    server.usage = None
    messages = [{"role": "user", "content": 'Ж "\\ \ud800'}]
    assert complete(api, "m", messages, max_tokens=50, timeout=20).usage.prompt_tokens > 0
    assert server.requests[0][1]["messages"][0]["content"] == 'Ж "\\ ?'
