import org.openapitools.client.ApiClient;

/** A client of the library native, which leaves the key to its user. */
final class Connect {
  static ApiClient open(String url, String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    return client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
  }
}
